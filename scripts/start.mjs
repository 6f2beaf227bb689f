// `npm start`: the gateway, built from its sources where they have changed since the last time, and started again when it dies.
import { runGateway } from './run-gateway.ts';
import { builtServer } from './server-build.mjs';

await runGateway(builtServer());
