// `npm start`: the gateway, built from its sources where they have changed since the last time, and started again when it dies.
import { runGateway } from './run-gateway.ts';
import { builtServer } from './server-build.mjs';

const EXIT_USAGE = 64; // EX_USAGE of sysexits.h

const [argument] = process.argv.slice(2);
if (argument === undefined) await runGateway(builtServer());
else {
  // Else `npm start -- --port 9000` would be a gateway on another port than it was told.
  process.stderr.write(
    `npm start takes no arguments, not even ${argument}: settings are environment variables (docs/guides/settings.md).\n`,
  );
  process.exitCode = EXIT_USAGE;
}
