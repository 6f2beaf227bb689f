// `npm start`: the gateway, built from its sources where they have changed since the last time.
import { pathToFileURL } from 'node:url';
import { builtServer } from './server-build.mjs';

await import(pathToFileURL(builtServer()).href);
