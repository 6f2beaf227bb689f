import { parentPort } from 'node:worker_threads';
import { NonceMaker, type NonceOrder } from './nonces.ts';

const maker = new NonceMaker();

parentPort?.on('message', (order: NonceOrder) => {
  const made = maker.make(order);
  parentPort?.postMessage(made, [made.points.buffer, made.scalars.buffer]);
});
