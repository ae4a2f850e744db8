//! Runtime of millpond: devices, queues, order, events, memory ownership, pools.
