// One life of the gateway as `npm start` runs it, without anybody who starts it again: for tests and benches, which kill it.
import { pathToFileURL } from 'node:url';
import { builtServer } from './server-build.mjs';

await import(pathToFileURL(builtServer()).href);
