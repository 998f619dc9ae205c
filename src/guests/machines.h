/* SPDX-License-Identifier: MIT */
/* Virtual machines on a traced host: which threads run their virtual CPUs.
 *
 * A thread is one if it was seen to enter a guest (kvm_entry and the like, ioctl KVM_RUN), or if
 * it is called as the programs that make machines call such threads ("CPU 0/KVM"). Debian's build
 * of the tracer has no events of entries; then all that such a thread works in ioctl KVM_RUN
 * (flow/syscall.c), and what it does while it was never seen outside it, counts as the guest's, or
 * KVM's for it.
 *
 *   CPU 0/KVM   ├ ioctl ──────────────────────────┤ user ├ ioctl ──────
 *   recorded    │ working/syscall:ioctl │ blocked │ user │
 *   made of it  │ working/guest         │ blocked │ user │ working/guest
 *
 * A machine is a process with such threads.
 *
 * Place: guests/, over what was recorded, in trace_gather().
 */
#ifndef WHYLATE_GUESTS_MACHINES_H
#define WHYLATE_GUESTS_MACHINES_H

#include "model/model.h"
#include "timeline/timeline.h"

struct vcpu {
	uint32_t thread;
	uint32_t number; /* as the machine numbers it */
};

struct machine {
	uint32_t leader; /* thread that leads its process, else its first virtual CPU's */
	uint16_t host;
	int32_t pid;
	GArray *vcpus; /* owned; struct vcpu, by number */
};

/* The number that a virtual CPU's thread has in its name; -1: it is called otherwise. */
int32_t vcpu_number_of(const char *name);

/* The thread is of the machine whose process `machine` is of: its own, or the kernel's for it
 * (vhost-PID; since Linux 6.4 that is a thread of the process). */
bool machine_has(const struct model *model, const struct thread *machine,
		 const struct thread *thread);
bool is_vhost(const struct model *model, const struct thread *machine, const struct thread *thread);

/* struct machine (owned): of all hosts, in order of host and thread. What their threads did for
 * the guest is marked so; `entries`: events told of it already. NULL: there are none. */
GArray *machines_new(struct model *model, struct timeline *timeline, bool entries);
void machines_free(GArray *machines);

#endif
