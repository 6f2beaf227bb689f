import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Cluster } from './cluster.ts';
import type { Postmaster } from './postmaster.ts';

/**
 * `read` returns when this process is gone, however it died: the kernel then closes the other end of the pipe. If after the grace
 * period nobody else has taken the lease and the same postmaster is still there, it is shut down.
 */
const SCRIPT = `
read -r _
sleep "$4"
[ "$(cat "$1" 2>/dev/null)" = "$2" ] || exit 0
[ "$(head -n 1 "$5/postmaster.pid" 2>/dev/null)" = "$3" ] || exit 0
{ tr '\\0' ' ' <"/proc/$3/cmdline" || ps -ww -o args= -p "$3"; } 2>/dev/null | grep -qF -- "-D $5 " || exit 0
kill -INT "$3"
`;

export interface OrphanGuard {
  /** Whether nobody else has become the owner meanwhile. False also when the cluster was removed; throws when it cannot be told. */
  isLeaseHeld(): boolean;
  /** Sends the guard away; the lease stays as it is. */
  dismiss(): void;
}

/**
 * Sees to it that a postmaster does not outlive its last owner for ever. The caller becomes the owner; an earlier owner's guard
 * then stands down. On Windows, which has no `sh`, nothing is guarded and the next start adopts the postmaster.
 */
export function guardAgainstOrphans(cluster: Cluster, { pid }: Postmaster, graceMs: number): OrphanGuard {
  const lease = randomUUID();
  writeFileSync(cluster.leaseFile, lease, { mode: 0o600 });
  const isLeaseHeld = () => existsSync(cluster.leaseFile) && readFileSync(cluster.leaseFile, 'utf8') === lease;
  if (process.platform === 'win32') return { isLeaseHeld, dismiss: () => {} };
  const args = [cluster.leaseFile, lease, String(pid), String(Math.ceil(graceMs / 1000)), cluster.data];
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'tallygate-orphan-guard', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {}); // Without a shell there is no guard; adoption still works.
  guard.unref();
  guard.stdin.on('error', () => {});
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  const dismiss = () => {
    if (guard.pid === undefined || guard.exitCode !== null || guard.signalCode !== null) return;
    try {
      process.kill(-guard.pid, 'SIGKILL'); // the whole group: a shell that sleeps has a child
    } catch {
      // It was gone already.
    }
  };
  return { isLeaseHeld, dismiss };
}
