import { parentPort } from 'node:worker_threads';
import { recordingLength } from './recording-length.ts';

parentPort?.on('message', ({ id, bytes }: { id: number; bytes: Uint8Array }) => {
  parentPort?.postMessage({ id, length: recordingLength(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) });
});
