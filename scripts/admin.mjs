// `npm run admin`: the operator's commands, from the same build as the gateway.
import { pathToFileURL } from 'node:url';
import { builtServer } from './server-build.mjs';

await import(pathToFileURL(builtServer('admin')).href);
