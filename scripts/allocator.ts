/**
 * How glibc gives memory back (mallopt(3)), for the process of a gateway: what is freed of large bodies goes back to the system at once, and
 * two arenas serve all threads. By its own rules it keeps up to 300 MB of what is free. Other allocators do not read these.
 */
export const ALLOCATOR = Object.freeze({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: `${256 * 1024}`,
  MALLOC_TRIM_THRESHOLD_: `${4 * 1024 * 1024}`,
});
