// Setting elements by indices: who is the last to name an element.

namespace mp {

// For each place one more than the largest number of a position that names it. There is a slot for each
// place, or a table of those that are named, with more slots than positions, where keys are places and one
// more.
template <class N>
struct owners {
    N* owner;
    N* key;
    u64 slots;
};

template <class N>
MP_DEVICE u64 first_slot(const owners<N>& of, N place) {
    const u64 mixed = u64(place) * 0x9e3779b97f4a7c15ull;
    return (mixed ^ mixed >> 32) & (of.slots - 1);
}

// Has a position own a place unless a later one does.
template <class N>
MP_DEVICE void own(const owners<N>& of, N place, N position) {
    u64 slot = place;
    if (of.key != nullptr) {
        for (slot = first_slot(of, place);; slot = (slot + 1) & (of.slots - 1)) {
            const N known = atomicCAS(of.key + slot, N(0), N(place + 1));
            if (known == 0 || known == place + 1) break;
        }
    }
    atomicMax(of.owner + slot, N(position + 1));
}

// Whether a position owns the place that it names.
template <class N>
MP_DEVICE bool owns(const owners<N>& of, N place, N position) {
    u64 slot = place;
    if (of.key != nullptr) {
        for (slot = first_slot(of, place); of.key[slot] != place + 1;) slot = (slot + 1) & (of.slots - 1);
    }
    return of.owner[slot] == position + 1;
}

// Copies to each place of a line the element of its owner.
template <class T, class N>
MP_DEVICE void settle_places(const owners<N>& of, u64 places, const char* from, i64 from_step, char* to) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 place = u64(blockIdx.x) * blockDim.x + threadIdx.x; place < places; place += step) {
        const N owner = of.owner[place];
        if (owner == 0) continue;
        pack<T, 1> element;
        element.load(from + i64(owner - 1) * from_step);
        element.store(to + i64(place * sizeof(T)));
    }
}

}  // namespace mp
