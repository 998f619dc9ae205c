# SPDX-License-Identifier: MIT
"""Pages of whylate in headless Chromium, driven through Selenium: for tests/html.t, and for the pictures of
README.md (tests/pictures.py). Where the Debian packages chromium-driver and python3-selenium are missing
have_browser() says so."""
import os
import tempfile

from whylate_test import CACHE, output

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = WebDriverException = ActionChains = By = Keys = Service = None

DRIVER = "/usr/bin/chromedriver"
PICTURES = os.path.join(CACHE, "html")


def have_browser():
    return webdriver is not None and os.path.exists(DRIVER)


class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--force-prefers-reduced-motion", "--window-size=1300,900", "--force-device-scale-factor=1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.directory = tempfile.TemporaryDirectory()
        self.driver = webdriver.Chrome(options=options, service=Service(
            DRIVER, env={**os.environ, "HOME": self.directory.name, "TMPDIR": self.directory.name}))
        self.driver.set_script_timeout(300)
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        self.made = {}

    def spent(self):
        """Seconds of processor time that the page's thread has worked: the same whatever else the machine does."""
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return [metric["value"] for metric in metrics if metric["name"] == "TaskDuration"][0]

    def open(self, name, *arguments, fragment=""):
        """A page, made once; no complaint on the console. Returns the processor time that it took until it was drawn, s."""
        path = os.path.join(self.directory.name, name + ".html")
        if name not in self.made:
            output(*arguments, "--format", "html", "--output", path)
            self.made[name] = path
        self.driver.get("about:blank")
        self.complaints()
        begin = self.spent()
        self.driver.get("file://" + path + fragment)
        self.js("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        seconds = self.spent() - begin
        assert self.js("return document.documentElement.dataset.ready") == "yes", self.complaints()
        complaints = self.complaints()
        assert not complaints, complaints
        assert not self.js("return performance.getEntriesByType('resource').length"), "it loads something"
        return seconds

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def click(self, selector):
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.js("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()
        self.settle()

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.js("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def shown(self):
        return self.js("return [whylate.timeline.from, whylate.timeline.to]")

    def picture(self, name):
        os.makedirs(PICTURES, exist_ok=True)
        self.driver.save_screenshot(os.path.join(PICTURES, name + ".png"))

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def any_size(self):
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def media(self, **features):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": features.pop("media", ""), "features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})


def duration(ns):
    """As the text reports have it."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("\u00b5s", 1e3)):
        value = ns / scale
        if value >= 0.9995:
            return "%.*f %s" % (0 if value >= 999.5 else 1 if value >= 99.95 else 2 if value >= 9.995 else 3, value, unit)
    return "%d ns" % ns
