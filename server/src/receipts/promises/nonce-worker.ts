import { parentPort } from 'node:worker_threads';
import { NonceMaker } from './nonces.ts';

const maker = new NonceMaker();

parentPort?.on('message', (count: number) => {
  const made = maker.make(count);
  parentPort?.postMessage(made, [made.points.buffer]);
});
