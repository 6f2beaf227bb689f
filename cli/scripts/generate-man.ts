import type { Command } from 'commander';
import { EXIT_MEANINGS } from '../src/exit-codes.ts';
import { manPage } from '../src/man-page.ts';
import { build, ENVIRONMENT } from '../src/program.ts';
import { VERSION } from '../src/version.ts';
import type { World } from '../src/world.ts';

/** Nothing of a computer but what the help depends on: an environment that says nothing. */
const nowhere: Pick<World, 'env' | 'out' | 'err'> = {
  env: {
    ...{ apiKey: undefined, sessionToken: undefined, baseUrl: undefined, profile: undefined, variable: () => undefined },
    ...{ configDirectory: '', hostName: '', nodeVersion: '', hasColor: false },
  },
  out: { isTty: false, write: () => {} },
  err: { isTty: false, write: () => {} },
};

/** Every noun with its commands, as no single line ever needs them. */
export const wholeProgram = (): Promise<Command> => build(nowhere, () => async () => {});

/** The text of `cli/man/tallygate.1`. */
export const manText = async (): Promise<string> =>
  manPage(await wholeProgram(), { version: VERSION, environment: ENVIRONMENT, exitCodes: EXIT_MEANINGS });
