import { parentPort } from 'node:worker_threads';
import { weaknessOf } from './password-weakness.ts';

parentPort?.on('message', ({ id, password, about }: { id: number; password: string; about: readonly string[] }) => {
  parentPort?.postMessage({ id, weakness: weaknessOf(password, about) });
});
