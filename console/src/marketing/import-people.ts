import type { MarketingPeopleImportResponse } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { csvParts, textOf } from './csv-parts.ts';

/** Some two thousand people: a second's work. */
const PART_CHARACTERS = 128 * 1_024;
const MOST_ERRORS = 1_000;

/** What a file holds, before any of it is sent. */
export interface CsvFile {
  readonly file: File;
  readonly columns: readonly string[];
  readonly rows: number;
}

/** @throws for what is no text in UTF-8 */
export async function lookInto(file: File): Promise<CsvFile> {
  let [rows, header] = [0, ''];
  try {
    for await (const part of csvParts(textOf(file), PART_CHARACTERS)) {
      header ||= part.csv.slice(0, part.csv.search(/[\r\n]|$/));
      rows += part.rows;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`${file.name} is not a text file in UTF-8: save it as “CSV UTF-8”.`);
  }
  return { file, rows, columns: header.split(/[,;]/).map((name) => name.trim()) };
}

const NOTHING: MarketingPeopleImportResponse = { rows: 0, created: 0, updated: 0, skipped: 0, failed: 0, errors: [] };

const sum = (a: MarketingPeopleImportResponse, b: MarketingPeopleImportResponse): MarketingPeopleImportResponse => ({
  ...{ rows: a.rows + b.rows, created: a.created + b.created, updated: a.updated + b.updated },
  ...{ skipped: a.skipped + b.skipped, failed: a.failed + b.failed, errors: [...a.errors, ...b.errors].slice(0, MOST_ERRORS) },
});

/** Part by part, with what is done after each. What was imported before it was stopped, or before a part was refused, stays. */
export async function* importParts(file: File): AsyncGenerator<MarketingPeopleImportResponse> {
  let done = NOTHING;
  for await (const part of csvParts(textOf(file), PART_CHARACTERS)) {
    const result = await tallygate.people.importAll(new Blob([part.csv], { type: 'text/csv' }));
    const errors = result.errors.map(({ line, message }) => ({ line: part.lineInFile(line), message }));
    done = sum(done, { ...result, errors });
    yield done;
  }
}
