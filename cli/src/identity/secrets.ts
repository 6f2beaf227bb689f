import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** One secret that a command needs. */
interface Wanted {
  /** What it is, as a question: `Password`. */
  readonly name: string;
  /** A person types it twice, since typing errors are not visible. */
  readonly isNew?: boolean;
}

/**
 * Secrets from the user at the terminal, or, in a pipe, one per line in the same order. Never from options: those are seen by every
 * user of the computer and is stored in the shell's history.
 */
export async function askSecrets(world: CommandWorld, ...wanted: readonly Wanted[]): Promise<string[]> {
  if (!world.input.isTty) return pipedSecrets(world, wanted);
  const secrets: string[] = [];
  for (const one of wanted) secrets.push(await typedSecret(world, one));
  return secrets;
}

async function typedSecret({ input }: CommandWorld, { name, isNew }: Wanted): Promise<string> {
  const secret = await input.askSecret(`${name}: `);
  if (isNew && (await input.askSecret(`${name}, again: `)) !== secret) {
    throw new Failure('usage', 'The two passwords differ.', EXIT.usage, 'Run it again.');
  }
  return secret;
}

async function pipedSecrets({ input }: CommandWorld, wanted: readonly Wanted[]): Promise<string[]> {
  // `echo` adds the line end, which no password has.
  const lines = (await input.readAll()).split(/\r?\n/).slice(0, wanted.length);
  if (lines.length === wanted.length && !lines.includes('')) return lines;
  const names = wanted.map(({ name }) => name.toLowerCase()).join(', then the ');
  throw new Failure('usage', `There is no terminal to ask for the ${names}.`, EXIT.usage, 'Pipe it in, one to a line.');
}

/** An answer that is no secret: from its option, or from the user at the terminal. */
export async function askFor({ input }: CommandWorld, question: string, given: string | undefined, option: string): Promise<string> {
  if (given !== undefined) return given;
  if (input.isTty) return input.ask(`${question}: `);
  throw new Failure('usage', `There is no terminal to ask: ${question}.`, EXIT.usage, `Give it with ${option}.`);
}
