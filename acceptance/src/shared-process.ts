import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { ALLOCATOR } from '../../scripts/allocator.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const Told = z.object({ id: z.number(), url: z.string().optional(), failure: z.string().optional() });
type Told = z.infer<typeof Told>;

/** As large as `npm start` lets it become, and large from the start: what is loaded is not copied while it grows. */
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

/** What was asked of the process and is not answered yet, by its number. */
const waiting = new Map<number, (told: Told) => void>();
let sharing: ChildProcess | undefined;
let gateways = 0;

/** A gateway in a process that all those of this test process share. */
export interface SharedLife {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws with what the gateway says when it does not start */
export async function startShared(env: NodeJS.ProcessEnv, frozenAtMs: number | undefined): Promise<SharedLife> {
  gateways += 1;
  const id = gateways;
  const url = await asked({ id, env, frozenAtMs });
  return { url, stop: async () => void (await asked({ id })) };
}

async function asked(message: { id: number; env?: NodeJS.ProcessEnv; frozenAtMs?: number | undefined }): Promise<string> {
  sharing ??= launch();
  const { promise, resolve } = Promise.withResolvers<Told>();
  waiting.set(message.id, resolve);
  sharing.send(message);
  const { url = '', failure } = await promise;
  if (failure !== undefined) throw new Error(`The gateway ended:\n${failure}`);
  return url;
}

function launch(): ChildProcess {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...YOUNG_GENERATION, 'scripts/gateways.mjs'], {
    cwd: ROOT,
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...ALLOCATOR },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (message) => {
    const told = Told.parse(message);
    waiting.get(told.id)?.(told);
    waiting.delete(told.id);
  });
  child.on('exit', (code, signal) => {
    sharing = undefined;
    for (const [id, tell] of waiting) tell({ id, failure: `the process that they share ended (${signal ?? code})` });
    waiting.clear();
  });
  // It ends with this process, which does not wait for it.
  child.unref();
  child.channel?.unref();
  return child;
}
