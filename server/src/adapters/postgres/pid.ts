/** Whether some process, not necessarily the one it once meant, has this pid; zombies count. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (failure) {
    return failure instanceof Error && 'code' in failure && failure.code === 'EPERM';
  }
}
