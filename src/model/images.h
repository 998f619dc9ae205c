/* SPDX-License-Identifier: MIT */
/* Programs and libraries as processes have them loaded: which file an address of a process is in.
 *
 *   bin_info, load, dlopen ─► struct loaded_image ◄─ build_id
 *   mmap of what can be run ─►                    ◄─ exec: the program, at a place not known
 *   fork: the child has its parent's, as they were    exec: none any more
 *
 * Place: model/, filled by flow/ from lttng-ust's own events (lttng_ust_statedump, lttng_ust_lib,
 * lttng_ust_dl), and from system calls where call stacks of user space are recorded, in time
 * order; else nothing is here. What a name is made of a place in a file is the business of
 * symbols/.
 *
 * What one process has loaded between its fork or exec and its next exec is a space. A child's
 * space leads to its parent's, so a fork costs one small record however much is loaded.
 */
#ifndef WHYLATE_MODEL_IMAGES_H
#define WHYLATE_MODEL_IMAGES_H

#include "model/model.h"

/* The image that `address` of the process is in at `time`; NULL: not known. One that is there
 * only later in the same space is taken if none is before. */
const struct loaded_image *model_image_at(const struct model *model, uint16_t host, int32_t pid,
					  uint64_t address, int64_t time);

/* What tells it from all others; from 1. */
uint32_t model_image_number(const struct model *model, const struct loaded_image *image);

/* While events pass. An image that is told again (each tracing session asks the program anew)
 * is known already. `since`: it is there from now on, and was not before. */
void model_image_loaded(struct model *model, const struct loaded_image *image, bool since);
void model_image_build_id(struct model *model, uint16_t host, int32_t pid, uint64_t base,
			  const uint8_t *bytes, uint32_t count);
void model_image_unloaded(struct model *model, uint16_t host, int32_t pid, uint64_t base,
			  int64_t time);
/* The program that a process executes from now on: nobody says where it lies. */
void model_image_program(struct model *model, uint16_t host, int32_t pid, uint32_t path,
			 int64_t time);
/* … which that is at `time`: an image of no size; NULL: not known. */
const struct loaded_image *
model_program_at(const struct model *model, uint16_t host, int32_t pid, int64_t time);
void model_images_fork(struct model *model, uint16_t host, int32_t parent, int32_t child,
		       int64_t time);
void model_images_exec(struct model *model, uint16_t host, int32_t pid, int64_t time);

/* Finds the spaces by PID again, when they were read from an image of the trace. False: their
 * numbers do not all lead to earlier ones. */
bool model_images_index(struct model *model);

#endif
