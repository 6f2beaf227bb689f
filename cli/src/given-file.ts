import type { CommandWorld } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

/** Why a path that is there gives no text, by Node's code. */
const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  EACCES: 'it is not yours to read',
  EPERM: 'it is not yours to read',
  ENOTDIR: 'a part of its path is no folder',
};

/** What a file that the line names holds. @param path `-`: stdin. @param nextStep where such a file comes from */
export async function readExactText(
  { input, readFile }: Pick<CommandWorld, 'input' | 'readFile'>,
  path: string,
  nextStep?: string,
): Promise<string> {
  if (path === '-') return input.readAll();
  const text = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    const reason = REASONS[error.code ?? ''];
    throw reason === undefined ? error : noSuchFile(path, nextStep, reason);
  });
  if (text === undefined) throw noSuchFile(path, nextStep);
  return text;
}

/** What a person has written into a file, without the byte order mark that editors on Windows put before it. */
export const readText = async (...given: Parameters<typeof readExactText>): Promise<string> =>
  (await readExactText(...given)).replace(/^\uFEFF/, '');

/** A file that the line names, to be sent piece by piece. */
export async function openGiven({ openFile }: Pick<CommandWorld, 'openFile'>, path: string, nextStep?: string): Promise<Blob> {
  const file = await openFile(path);
  if (file === undefined) throw noSuchFile(path, nextStep);
  return file;
}

export const noSuchFile = (path: string, nextStep = 'Check the path, and the folder that you are in.', reason?: string): Failure =>
  new Failure(
    'no_such_file',
    reason === undefined ? `There is no file ${path}.` : `${path} cannot be read: ${reason}.`,
    EXIT.usage,
    nextStep,
  );
