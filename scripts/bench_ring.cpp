// The ring of venym/hot/link.py in C++, over the same memory: int64 indices on lines of their own, each side with its
// last look at the other's, one ordered store a batch. The loops are those of scripts/bench_ring, one for one.

#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace {

constexpr int HEAD = 0, SEEN_TAIL = 8, TAIL = 32, SEEN_HEAD = 40;

struct Record {
    int64_t words[8];
};

struct Link {
    Record* slots;
    int64_t* cursor;
    int64_t capacity;

    std::atomic<int64_t>& ordered(int index) const { return reinterpret_cast<std::atomic<int64_t>&>(cursor[index]); }

    int64_t room(int64_t wanted) const {
        const int64_t head = cursor[HEAD];
        int64_t free = capacity - (head - cursor[SEEN_TAIL]);
        if (free < wanted) {
            cursor[SEEN_TAIL] = ordered(TAIL).load(std::memory_order_acquire);
            free = capacity - (head - cursor[SEEN_TAIL]);
        }
        return std::min(free, wanted);
    }

    int64_t ready(int64_t wanted) const {
        const int64_t tail = cursor[TAIL];
        int64_t held = cursor[SEEN_HEAD] - tail;
        if (held < wanted) {
            cursor[SEEN_HEAD] = ordered(HEAD).load(std::memory_order_acquire);
            held = cursor[SEEN_HEAD] - tail;
        }
        return std::min(held, wanted);
    }

    Record& claim(int64_t k) const { return slots[(cursor[HEAD] + k) & (capacity - 1)]; }
    Record& peek(int64_t k) const { return slots[(cursor[TAIL] + k) & (capacity - 1)]; }
    void commit(int64_t count) const { ordered(HEAD).store(cursor[HEAD] + count, std::memory_order_release); }
    void release(int64_t count) const { ordered(TAIL).store(cursor[TAIL] + count, std::memory_order_release); }
};

void fill(Record& slot, int64_t number) {
    for (int i = 0; i < 8; ++i) slot.words[i] = number + i;
}

int64_t total(const Record& slot) {
    int64_t sum = 0;
    for (int i = 0; i < 8; ++i) sum += slot.words[i];
    return sum;
}

}  // namespace

// A link is passed as slots, cursor, capacity; an array as data, length.
#define LINK(name) Record *name##_slots, int64_t *name##_cursor, int64_t name##_capacity
#define MAKE(name) const Link name{name##_slots, name##_cursor, name##_capacity}

extern "C" void ping(LINK(there), LINK(back), int64_t* took, int64_t count, int64_t* sums, int64_t) {
    MAKE(there);
    MAKE(back);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t started = __rdtsc();
        there.claim(0).words[0] = i;
        there.commit(1);
        while (back.ready(1) == 0) {
        }
        sums[0] += back.peek(0).words[0];
        back.release(1);
        took[i] = __rdtsc() - started;
    }
}

extern "C" void pong(LINK(there), LINK(back), int64_t count) {
    MAKE(there);
    MAKE(back);
    for (int64_t i = 0; i < count; ++i) {
        while (there.ready(1) == 0) {
        }
        back.claim(0).words[0] = there.peek(0).words[0];
        there.release(1);
        back.commit(1);
    }
}

extern "C" void produce(LINK(link), int64_t count, int64_t batch) {
    MAKE(link);
    int64_t sent = 0;
    while (sent < count) {
        const int64_t granted = std::min(link.room(batch), count - sent);
        for (int64_t k = 0; k < granted; ++k) fill(link.claim(k), sent + k);
        if (granted > 0) {
            link.commit(granted);
            sent += granted;
        }
    }
}

extern "C" int64_t consume(LINK(link), int64_t count, int64_t batch, int64_t* sums, int64_t) {
    MAKE(link);
    while (link.ready(1) == 0) {
    }
    const int64_t started = __rdtsc();
    int64_t read = 0;
    while (read < count) {
        const int64_t granted = link.ready(batch);
        for (int64_t k = 0; k < granted; ++k) sums[0] += total(link.peek(k));
        if (granted > 0) {
            link.release(granted);
            read += granted;
        }
    }
    return __rdtsc() - started;
}

extern "C" int64_t fused(LINK(link), int64_t count, int64_t batch, int64_t* sums, int64_t) {
    MAKE(link);
    const int64_t started = __rdtsc();
    int64_t done = 0;
    while (done < count) {
        const int64_t granted = link.room(batch);
        for (int64_t k = 0; k < granted; ++k) fill(link.claim(k), done + k);
        link.commit(granted);
        const int64_t held = link.ready(batch);
        for (int64_t k = 0; k < held; ++k) sums[0] += total(link.peek(k));
        link.release(held);
        done += held;
    }
    return __rdtsc() - started;
}
