import { createHash } from 'node:crypto';
import * as z from 'zod';
import { modelsOfFile, type ReadList } from '../money/catalog/index.ts';
import { ConfigError } from './config-error.ts';
import { readJsonFile } from './json-file.ts';

/**
 * The list of the operator's own, as it is now; an empty one where no file is named.
 * @throws ConfigError naming every fault by its path
 */
export function readModelsFile(path: string | undefined): ReadList {
  const { text, content } = path === undefined ? NONE : readJsonFile('MODELS_FILE', path);
  const models = modelsOf(content, path ?? '');
  return { source: 'file', digest: createHash('sha256').update(text).digest('hex'), models: () => models };
}

const NONE = { text: '{"models":[]}', content: { models: [] } };

function modelsOf(content: unknown, path: string) {
  try {
    return modelsOfFile(content);
  } catch (error) {
    const faults =
      error instanceof z.ZodError
        ? error.issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`)
        : [error instanceof Error ? error.message : String(error)];
    throw new ConfigError(faults.map((fault) => `MODELS_FILE ${path}: ${fault}`));
  }
}
