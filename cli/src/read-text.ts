import type { CommandWorld } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

/** What a file holds. @param path `-`: stdin */
export async function readText({ input, readFile }: CommandWorld, path: string): Promise<string> {
  const text = path === '-' ? await input.readAll() : await readFile(path);
  if (text === undefined) throw new Failure('no_such_file', `There is no file ${path}.`, EXIT.usage);
  return text;
}
