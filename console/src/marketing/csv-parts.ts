/** A part of a CSV file that is a file by itself: the header and some rows. */
export interface CsvPart {
  readonly csv: string;
  readonly rows: number;
  /** Which line of the whole file a line of this part is. */
  readonly lineInFile: (line: number) => number;
}

/** As the service has it: a row that is longer has lost its closing quote. */
const MAX_ROW = 64 * 1_024;

/** Finds where rows end (RFC 4180): a line break within quotes ends none. */
class RowEnds {
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #size = 0;
  #separator: string | undefined;

  /** Whether the row ends with this character. */
  step(character: string): boolean {
    this.#size += 1;
    if (this.#state === 'quoted' && this.#size <= MAX_ROW) {
      if (character === '"') this.#state = 'closed';
      return false;
    }
    if (character === '\n') {
      this.#state = 'start';
      this.#size = 0;
      return true;
    }
    if (character === ',' || character === ';') this.#separator ??= character;
    if (character === this.#separator) this.#state = 'start';
    else if (character === '"' && (this.#state === 'start' || this.#state === 'closed')) this.#state = 'quoted';
    else this.#state = 'plain';
    return false;
  }
}

/** Each row with its line break. */
async function* rowsOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const ends = new RowEnds();
  let row = '';
  for await (const piece of pieces) {
    let begin = 0;
    for (let at = 0; at < piece.length; at += 1) {
      if (!ends.step(piece.charAt(at))) continue;
      yield row + piece.slice(begin, at + 1);
      row = '';
      begin = at + 1;
    }
    row += piece.slice(begin);
  }
  if (row !== '') yield row;
}

const linesIn = (text: string): number => text.split('\n').length - 1;

/**
 * Cuts a CSV file into parts that are imported one after the other, so that the progress of a large file is seen and it can be stopped.
 *
 * @param atLeast characters of rows in every part but the last
 */
export async function* csvParts(pieces: AsyncIterable<string>, atLeast: number): AsyncGenerator<CsvPart> {
  let header = '';
  let [before, text, rows, parts] = [0, '', 0, 0];
  const cut = (): CsvPart => {
    const shift = before;
    const part = { csv: header + text, rows, lineInFile: (line: number) => line + shift };
    before += linesIn(text);
    [text, rows, parts] = ['', 0, parts + 1];
    return part;
  };
  for await (const row of rowsOf(pieces)) {
    if (header.trim() === '') {
      header += row;
      continue;
    }
    text += row;
    rows += 1;
    if (text.length >= atLeast) yield cut();
  }
  if (text !== '' || parts === 0) yield cut();
}

/** A file as text, piece by piece. Rejects with a `TypeError` for bytes that are not UTF-8. */
export async function* textOf(file: Blob): AsyncGenerator<string> {
  const reader = file
    .stream()
    .pipeThrough(new TextDecoderStream('utf-8', { fatal: true }))
    .getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
