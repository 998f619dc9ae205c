/* SPDX-License-Identifier: MIT */
/* The tables of the model's records. What is only of use while events pass is OWN or PASSING. */
#include "model/model_records.h"

#include "model/images.h"
#include "timeline/timeline_records.h"
#include "util/record_rows.h"

/* --- threads --------------------------------------------------------------------- */

#define RECORD_TYPE struct user_frame
RECORD(user_frame, TIME(begin), NUMBER(address), NUMBER(call_site), NAME(name), NUMBER(inherited));
#undef RECORD_TYPE

static void *make_user_stack(void *thread)
{
	(void) thread;
	return user_stack_new();
}

#define RECORD_TYPE struct user_stack
RECORD_MADE(user_stack, make_user_stack, NULL, ARRAY(frames, user_frame), TIME(seen), TIME(from),
	    NUMBER(pid));
#undef RECORD_TYPE

#define RECORD_TYPE struct name_change
RECORD(name_change, TIME(time), THREAD_NAME(name));
#undef RECORD_TYPE

#define RECORD_TYPE struct handling
RECORD(handling, TIME(begin), TIME(end), NUMBER(signal), WEAK_THREAD(sender));
#undef RECORD_TYPE

#define RECORD_TYPE struct waker
RECORD(waker, THREAD(thread), NUMBER(stack), NUMBER(context), NAME(label),
       REF(detail, STORE_DETAILS), NUMBER(cpu), NUMBER(callstack), NUMBER(user_callstack),
       NUMBER(kind), NUMBER(why), NUMBER(same_file), NUMBER(to_all));
#undef RECORD_TYPE

#define RECORD_TYPE struct work
RECORD(work, NUMBER(doing), NUMBER(in_interrupt), NAME(function), THREAD_WHEN(thread, doing, true),
       REF(behind, STORE_DETAILS), NUMBER(by_timer), NAME(timer), TIME_OR_0(queued));
#undef RECORD_TYPE

#define RECORD_TYPE struct call
RECORD(call, NUMBER(open), NUMBER(inherited), NAME(name), NAME(before), TIME(begin), NAME(path),
       NUMBER(works_on), NAME(newpath), NAME(address), NUMBER(fd), NUMBER(newfd), NUMBER(op),
       NUMBER(argument), NUMBER(flags), NUMBER(start), NUMBER(length), NUMBER(timer), THREAD(child),
       NUMBER(waits), NUMBER(to_disk), NUMBER(reads), REF(lock, STORE_LOCKS),
       REF(exchange, STORE_EXCHANGES), REF(end, STORE_ENDS), NUMBER(talk), NUMBER(flow),
       TIME_OR_0(came));
#undef RECORD_TYPE

/* The uint32_t in a list of waits. */
static const struct field woke_fields[] = {
	{.name = "block", .size = sizeof(uint32_t), .kind = FIELD_WEAK_REF, .store = STORE_BLOCKS}};
static const struct record woke_record = {
	.name = "woke", .size = sizeof(uint32_t), .fields = woke_fields, .count = 1};

#define RECORD_TYPE struct failure
RECORD(failure, TIME(time), THREAD(thread), WEAK_THREAD(peer), NAME(call), NAME(object),
       NUMBER(result), NUMBER(unasked), NUMBER(elsewhere));
#undef RECORD_TYPE

#define RECORD_TYPE struct spin
RECORD(spin, WEAK_THREAD(thread), WEAK_THREAD(maker), NAME(call), NAME(object), NUMBER(fd),
       NUMBER(result), NUMBER(count), TIME(begin), TIME(end));
#undef RECORD_TYPE

#define RECORD_TYPE struct thread
RECORD(thread, HOST(host), TIME(begin), TIME(end), NUMBER(tid), NUMBER(pid), NUMBER(state),
       NUMBER(born), NUMBER(by_fork), NUMBER(described), NUMBER(kernel), NUMBER(of_kthreadd),
       NUMBER(execed), NUMBER(dumped), NUMBER(ended_by), NUMBER(ended_for), NUMBER(listens),
       WEAK_THREAD(ended_sender), TIME(ends_from), NUMBER(made_syscall), NUMBER(accepted),
       NUMBER(reads_pipe), NUMBER(vcpu), NUMBER(vcpu_number), NUMBER(evident), NUMBER(contained),
       NUMBER(settled), NUMBER(late), TIME(late_after), NUMBER(backfilled), TIME(backfill_begin),
       TIME(backfill_end), WEAK_THREAD(parent), WEAK_THREAD(pinned_by), TIME(pinned_at),
       NUMBER(only_if_idle), REF(place, STORE_PLACES), THREAD_NAME(name), NAME(program),
       ARRAY(names, name_change), NUMBER(priority), ARRAY(handlings, handling), TIME(name_since),
       OWN(files), OWN(memory), NAME(cgroup), NUMBER(cgroups), NUMBER(flow.cpu),
       REF(flow.block, STORE_BLOCKS), TIME(flow.since), TIME(flow.history), TIME(flow.last_call),
       NUMBER(flow.has_call), NUMBER(flow.in_guest), NUMBER(flow.halted), NUMBER(flow.apic),
       NUMBER(flow.fault), NUMBER(flow.fault_address), TIME(flow.reclaims), TIME(flow.reclaimed),
       NUMBER(flow.pressed), TIME(flow.fatal), NUMBER(flow.fatal_signal),
       NUMBER(flow.fatal_delivered), NUMBER(flow.kill_signal), NUMBER(flow.kill_origin),
       WEAK_THREAD(flow.killer), TIME(flow.exiting), NUMBER(flow.wakeup_due),
       NUMBER(flow.remembered), TIME(flow.remembered_at), NUMBER(flow.sigreturn),
       NUMBER(flow.interruptible), NUMBER(flow.handlers), IN_PLACE(flow.handling, handling),
       NUMBER(flow.sent_signal), WEAK_THREAD(flow.sent_signal_by), TIME(flow.left),
       TIME(flow.unseen_from), TIME(flow.unseen_until), TIME(flow.woken),
       REF(flow.operation, STORE_OPERATIONS), NUMBER(flow.answers), NUMBER(flow.calls),
       NUMBER(flow.doings), IN_PLACE(flow.spin, spin), WEAK_REF(flow.spin_block, STORE_BLOCKS),
       NUMBER(flow.tries), PASSING_ARRAY(flow.functions, open_frame), NUMBER(flow.counted),
       OWN(flow.values), POINTER(flow.user, user_stack), PASSING_ARRAY(flow.woke, woke),
       THREAD(flow.asked_by), NAME(flow.asked_call), NAME(flow.sent), NUMBER(flow.sent_fd),
       TIME_OR_0(flow.sent_at), TIME_OR_0(flow.day_expires), TIME_OR_0(flow.day_begin),
       NUMBER(flow.day_requested), WEAK_THREAD(flow.day_set_by), REF(flow.pause, STORE_REASONS),
       NUMBER(flow.commits), NUMBER(flow.transaction), NUMBER(flow.asked), NUMBER(flow.hears),
       NUMBER(flow.heard_port), WEAK_REF(flow.timed_out, STORE_BLOCKS),
       NUMBER(flow.timed_out_asking), NUMBER(flow.timed_out_reading), TIME(flow.timed_out_at),
       IN_PLACE(flow.waker, waker), IN_PLACE(flow.work, work), IN_PLACE(flow.call, call),
       LOG(track, STORE_INTERVALS), LOG(samples, STORE_SAMPLES), LOG(counts, STORE_COUNTS),
       NUMBERS(flow.counters));
#undef RECORD_TYPE

/* --- CPUs -------------------------------------------------------------------------- */

#define RECORD_TYPE struct frame
RECORD(frame, NUMBER(what), NAME(label), NUMBER(votes), NUMBER(number), TIME(begin),
       IN_PLACE(pending, wake_detail));
#undef RECORD_TYPE

#define RECORD_TYPE struct idle_state
RECORD(idle_state, TIME(begin), TIME(end), NUMBER(state));
#undef RECORD_TYPE

#define RECORD_TYPE struct raised
RECORD(raised, THREAD(thread), TIME(time));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_arrival
RECORD(tcp_arrival, NUMBER(flow), TIME_OR_0(queued), TIME_OR_0(left), TIME_OR_0(missed_since),
       NUMBER(seq), NUMBER(end), NUMBER(flags));
#undef RECORD_TYPE

static void *make_cpu(void *host)
{
	return host_add_cpu(host);
}

#define RECORD_TYPE struct cpu
RECORD_MADE(cpu, make_cpu, NULL, NUMBER(id), NUMBER(seen), NUMBER(named), NUMBER(awaited),
	    THREAD(current), NUMBER(priority), TIME(first_packet), TIME(unknown_since),
	    NUMBER(unknown_ns), TIME(gap_end), TIME(last_switch), TIME(counted_at),
	    NUMBERS(counted), NUMBER(frames_lost), NUMBER(depth), NUMBER(frames_made), OWN(sampled),
	    OWN(copied_name), OWN(copied_channel), OWN(copied_tid),
	    IN_PLACE_COUNTED(frames, frame, depth), IN_PLACE(pending, wake_detail),
	    THREAD(last_woken), NUMBERS(sender), NUMBER(sender_length), NUMBER(sender_port),
	    NUMBER(heard_port), NUMBER(heard), IN_PLACE(arrival, tcp_arrival), NUMBER(last_raise),
	    IN_PLACE(idles, idle_state), NUMBER(idles_count), TIME(last_ipi),
	    IN_PLACE(raised, raised), IN_PLACE(raiser, raised), NUMBER(by_raiser), THREAD(vcpu),
	    LOG(runs, STORE_RUNS), PASSING_ARRAY(open, open_frame),
	    REF(operation, STORE_OPERATIONS));
#undef RECORD_TYPE

/* --- hosts ------------------------------------------------------------------------- */

#define RECORD_TYPE struct gap
RECORD(gap, TIME(begin), TIME(end), TIME(furthest), NUMBER(cpu), NUMBER(events), NUMBER(packets),
       NUMBER(to_the_end));
#undef RECORD_TYPE

#define RECORD_TYPE struct requester
RECORD(requester, THREAD(thread), NAME(call), THREAD(behalf), NAME(file), NAME(asked_in),
       NUMBER(behalf_seen), TIME(time));
#undef RECORD_TYPE

#define RECORD_TYPE struct request
RECORD(request, TIME(queued), TIME(issue), TIME(requeued), TIME(end), NUMBER(key), NUMBER(sector),
       NUMBER(dev), NUMBER(origin), NUMBER(sectors), NUMBER(left), NUMBER(bios), NUMBER(threads),
       IN_PLACE(by, requester), NUMBER(depth), NUMBER(distance), NUMBER(generation),
       NUMBER(next_free), TIME(handed), TIME(arrived), NUMBER(below), NAME(timer), NUMBER(phase),
       NUMBER(write), NUMBER(meta), NUMBER(held), NUMBER(readahead), NUMBER(remapped),
       NUMBER(passed_on), NUMBER(doubtful), NUMBER(used));
#undef RECORD_TYPE

#define RECORD_TYPE struct dirtied
RECORD(dirtied, WEAK_THREAD(thread), NAME(file), NUMBER(bytes), TIME(last));
#undef RECORD_TYPE

#define RECORD_TYPE struct served
RECORD(served, NUMBER(dev), WEAK_THREAD(thread), NAME(file), TIME(begin), TIME(end), NUMBER(bytes),
       NUMBER(busy));
#undef RECORD_TYPE

#define RECORD_TYPE struct disk_end
RECORD(disk_end, NUMBER(dev), TIME(end));
#undef RECORD_TYPE

#define RECORD_TYPE struct sent
RECORD(sent, NUMBER(flow), TIME(time), THREAD(thread), NAME(call), NUMBER(waiting), TIME_OR_0(left),
       TIME_OR_0(given), NUMBER(context), NUMBER(in_interrupt), REF(behind, STORE_DETAILS),
       NUMBER(by_timer), NAME(timer), NUMBER(talk));
#undef RECORD_TYPE

#define RECORD_TYPE struct talk
RECORD(talk, NUMBER(number), NUMBER(kind), NUMBER(role), NUMBER(connecting), NUMBER(outstanding),
       NUMBER(accepted), NUMBER(taken), NUMBER(attempts), NUMBER(flow), NAME(local), NAME(remote),
       TIME(asked), TIME(read), TIME(queued), NAME(device), NUMBER(left), WEAK_THREAD(asker),
       WEAK_THREAD(peer), NUMBER(partner), NUMBER(out), NUMBER(in), REF(reason, STORE_REASONS));
#undef RECORD_TYPE

#define RECORD_TYPE struct arrival
RECORD(arrival, NAME(from), NUMBER(port), NUMBER(to));
#undef RECORD_TYPE

#define RECORD_TYPE struct swap_disk
RECORD(swap_disk, NAME(name), NUMBER(writes));
#undef RECORD_TYPE

#define RECORD_TYPE struct listener
RECORD(listener, NAME(address), WEAK_THREAD(thread));
#undef RECORD_TYPE

#define RECORD_TYPE struct end_signal
RECORD(end_signal, TIME(time), WEAK_THREAD(sender), WEAK_THREAD(target), NUMBER(sig),
       NUMBER(ignored));
#undef RECORD_TYPE

/* Of connections nothing is kept that only they name. */
#define RECORD_TYPE struct tcp_write
RECORD(tcp_write, TIME(time), NUMBER(end), WEAK_THREAD(thread), NAME(call));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_segment
RECORD(tcp_segment, NUMBER(seq), NUMBER(end), TIME(written), TIME(first), TIME(last),
       TIME_OR_0(left), NUMBER(gap), NUMBER(ack_delay), NUMBER(skb), WEAK_THREAD(thread),
       NAME(call), NUMBER(again), NUMBER(held), NUMBER(how), NUMBER(needless), NUMBER(came),
       NUMBER(awaited), NUMBER(unsent), NUMBER(inferred), NUMBER(syn));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_range
RECORD(tcp_range, NUMBER(seq), NUMBER(end));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_way
RECORD(tcp_way, NUMBER(key), NUMBER(known), NUMBER(synced), NUMBER(leaves_seen), NUMBER(timed_out),
       NUMBER(sent_end), NUMBER(written_end), NUMBER(acked), NUMBER(recover), NUMBER(syns),
       NUMBER(duplicates), NUMBER(probes), NUMBER(window), NUMBER(window_max),
       TIME_OR_0(closed_since), TIME_OR_0(closed_until), TIME_OR_0(was_closed_since),
       TIME_OR_0(was_closed_until), TIME_OR_0(loss_time), NUMBER(queue_hold), NUMBER(round_trip),
       WEAK_THREAD(writer), NAME(call), NUMBER(writing), TIME_OR_0(write_begin), NUMBER(write_next),
       NUMBER(segment_next), IN_PLACE(writes, tcp_write), IN_PLACE(segments, tcp_segment),
       NUMBER(received), NUMBER(rcv_next), NUMBER(ack_sent), TIME_OR_0(unacked_since),
       TIME_OR_0(ack_time), NUMBER(ack_delay), NUMBER(ack_by_timer), NUMBER(ack_seen),
       WEAK_THREAD(reader), TIME_OR_0(read_time), TIME_OR_0(came), TIME_OR_0(first_came),
       TIME_OR_0(early_since), IN_PLACE(holes, tcp_range), NAME(local), NAME(remote), NAME(device),
       NUMBER(local_port), NUMBER(remote_port));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_connection
RECORD(tcp_connection, TIME(begin), IN_PLACE(ways, tcp_way));
#undef RECORD_TYPE

#define RECORD_TYPE struct tcp_listener
RECORD(tcp_listener, TIME_OR_0(accepted), TIME_OR_0(waited_from), TIME_OR_0(waited_until),
       WEAK_THREAD(thread), NUMBER(port));
#undef RECORD_TYPE

#define RECORD_TYPE struct stop
RECORD(stop, TIME(time), THREAD(sender), THREAD(target), NUMBER(sig));
#undef RECORD_TYPE

#define RECORD_TYPE struct pid_ns
RECORD(pid_ns, NUMBER(number), NUMBER(parent), NUMBER(level));
#undef RECORD_TYPE

/* By its own clock: what sets all others right. */
#define RECORD_TYPE struct host_clock
RECORD(host_clock, NUMBER(line.base), NUMBER(line.offset), NUMBER(line.drift), NUMBER(error),
       NUMBER(known), NUMBER(group), NUMBER(neighbour), NUMBER(packets), NUMBER(contradicting),
       NUMBER(too_early));
#undef RECORD_TYPE

#define RECORD_TYPE struct guest
RECORD(guest, WEAK_THREAD(machine), NUMBER(known), NUMBER(refined), NUMBER(moments),
       NUMBER(outside), NUMBER(chance));
#undef RECORD_TYPE

static void *make_host(void *model)
{
	return host_new(model);
}

static bool host_taken(void *host)
{
	return host_index_cpus(host);
}

#define RECORD_TYPE struct host
RECORD_MADE(host, make_host, host_taken, HOST_NAME(hostname), TEXT(uuid), TEXT(clock_uuid),
	    TEXT(kernel), TEXT(tracer), NUMBER(clock_offset), NUMBER(has_clock_offset),
	    WEAK_THREAD(clock_set_by), TIME_OR_0(clock_set_at), NUMBER(clock_shift),
	    NUMBER(encoding), NUMBER(raw_preempted), NUMBER(abi), IN_PLACE(clock, host_clock),
	    IN_PLACE(guest, guest), TIME(begin), TIME(end), NUMBER(any), TIME(known_from),
	    LIST(cpus, cpu), OWN(cpu_index), OWN(direct), MAP(tids), OWN(forgotten),
	    TIME(forgotten_by), ARRAY(gaps, gap), ARRAY(spins, spin), ARRAY(failures, failure),
	    NUMBER(failures_more), ARRAY(user_gaps, gap), OWN(tables), MAP(irq_names), MAP(disks),
	    OWN(timers), PASSING_ARRAY(armed, wake_detail), OWN(requests),
	    PASSING_ARRAY(on_way, request), OWN(request_free), NUMBER(request_count), OWN(whole),
	    IN_PLACE(completed, request), PASSING_ARRAY(dirtied, dirtied),
	    PASSING_ARRAY(served, served), OWN(served_next), IN_PLACE(disk_ends, disk_end),
	    OWN(disk_ends_next), OWN(file_disks), OWN(fifos), OWN(file_endings),
	    NUMBER(completed_next), IN_PLACE(stops, stop), NUMBER(stops_next),
	    PASSING_ARRAY(arrivals, arrival), NUMBER(arrivals_next), IN_PLACE(endings, end_signal),
	    NUMBER(endings_next), PASSING_ARRAY(talks, talk), NUMBER(talk_count), OWN(talk_index),
	    IN_PLACE(swap_disks, swap_disk), IN_PLACE(listeners, listener), NUMBER(listeners_next),
	    IN_PLACE(receivers, listener), NUMBER(receivers_next), OWN(packets), OWN(writebacks),
	    OWN(works), OWN(flows), PASSING_ARRAY(sent, sent), OWN(tcp_ways),
	    PASSING_ARRAY(tcp, tcp_connection), OWN(tcp_next),
	    PASSING_ARRAY(tcp_listeners, tcp_listener), ARRAY(namespaces, pid_ns),
	    MAP(namespace_index), OWN(inner_tids), NUMBER(has_statedump), NUMBER(has_works),
	    NUMBER(has_pauses), NUMBER(has_xmit), OWN(takers), NUMBER(has_received), NUMBER(pipes),
	    NUMBER(pairs), NUMBER(discarded_events), NUMBER(discarded_packets), TIME(counted_from),
	    TIME(passed_until), TIME(passed_from));
#undef RECORD_TYPE

/* --- all ------------------------------------------------------------------------- */

#define RECORD_TYPE struct loaded_image
RECORD(loaded_image, HOST(host), TIME(from), TIME(until), NUMBER(base), NUMBER(size), NAME(path),
       NUMBER(previous), NUMBERS(build_id), NUMBER(build_id_length), NUMBER(pic), NUMBER(pid));
#undef RECORD_TYPE

#define RECORD_TYPE struct image_space
RECORD(image_space, HOST(host), TIME(from), NUMBER(pid), NUMBER(parent), NUMBER(previous),
       NUMBER(newest));
#undef RECORD_TYPE

#define RECORD_TYPE struct place
RECORD(place, NUMBER(pid_ns), NUMBER(cgroup_ns), NUMBER(level), NUMBER(ids));
#undef RECORD_TYPE

#define RECORD_TYPE struct ids
RECORD(ids, NUMBER(tid), NUMBER(pid));
#undef RECORD_TYPE

static bool model_taken(void *model)
{
	return ((struct model *) model)->places->len > 0 && model_images_index(model);
}

#define RECORD_TYPE struct model
RECORD_MADE(model, NULL, model_taken, OWN(names), LIST(hosts, host),
	    PAGES(threads, thread, thread_count), NUMBER(thread_count), OWN(free_threads),
	    ARRAY(places, place), ARRAY(ids, ids), OWN(shared_places), ARRAY(images, loaded_image),
	    ARRAY(image_spaces, image_space), OWN(space_index));
#undef RECORD_TYPE
