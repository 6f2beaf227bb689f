import { breather } from '../../kernel/turn.ts';

/** One row of a CSV file. */
export interface CsvRow {
  /** Where it begins, 1 for the first line. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Set where the row breaks the rules of RFC 4180; the cells are then worth nothing. */
  readonly fault?: string;
}

/** So much of one row is taken, separators included; what is longer has lost its closing quote. */
const MAX_ROW = 64 * 1_024;

/**
 * The rows of a CSV text (RFC 4180; lines may also end in LF, and cells in semicolons) that comes in pieces. A row that is malformed is given with its fault, and
 * reading continues with the next line.
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const reader = new RowReader();
  let isFirst = true;
  const rest = breather();
  for await (const piece of pieces) {
    yield* reader.take(isFirst ? piece.replace(/^\uFEFF/, '') : piece);
    if (piece !== '') isFirst = false;
    // A piece without a whole row is read too.
    await rest();
  }
  yield* reader.end();
}

type State = 'start' | 'plain' | 'quoted' | 'closed' | 'lost';

class RowReader {
  #state: State = 'start';
  #cells: string[] = [];
  #cell = '';
  #size = 0;
  #line = 1;
  #began = 1;
  #fault: string | undefined;
  #afterReturn = false;
  /** The separator: the first one in the header. Excel writes semicolons where the comma is the decimal point. */
  #separator: ',' | ';' | undefined;

  *take(text: string): Generator<CsvRow> {
    for (const character of text) {
      const isBreak = character === '\n' || character === '\r';
      const isSecondHalf = character === '\n' && this.#afterReturn;
      this.#afterReturn = character === '\r';
      if (isBreak && !isSecondHalf) this.#line++;
      if (this.#state === 'quoted') {
        if (character === '"') this.#state = 'closed';
        else this.#add(character);
      } else if (isBreak) {
        if (!isSecondHalf) yield* this.#endRow();
        else this.#began = this.#line;
      } else this.#step(character);
    }
  }

  *end(): Generator<CsvRow> {
    if (this.#state === 'quoted') this.#lose('a quoted cell is not closed');
    yield* this.#endRow();
  }

  #step(character: string): void {
    if (this.#state === 'lost') return;
    if (character === ',' || character === ';') this.#separator ??= character;
    if (character === this.#separator) {
      if (!this.#hasRoomFor(character)) return;
      this.#cells.push(this.#cell);
      this.#cell = '';
      this.#state = 'start';
    } else if (character === '"') {
      if (this.#state === 'start') this.#state = 'quoted';
      else if (this.#state === 'closed') {
        this.#add('"');
        this.#state = 'quoted';
      } else this.#lose('a quote inside a cell that does not begin with one');
    } else if (this.#state === 'closed') this.#lose('text after a closing quote');
    else {
      this.#state = 'plain';
      this.#add(character);
    }
  }

  #add(character: string): void {
    if (this.#hasRoomFor(character)) this.#cell += character;
  }

  #hasRoomFor(character: string): boolean {
    this.#size += character.length;
    if (this.#size > MAX_ROW) this.#lose('the row is longer than 64 KiB: is a quote not closed?');
    return this.#size <= MAX_ROW;
  }

  #lose(fault: string): void {
    this.#fault ??= fault;
    this.#state = 'lost';
    this.#cells = [];
    this.#cell = '';
  }

  *#endRow(): Generator<CsvRow> {
    const cells = [...this.#cells, this.#cell];
    const isEmpty = cells.length === 1 && cells[0] === '' && this.#state === 'start' && this.#fault === undefined;
    if (!isEmpty) this.#separator ??= ',';
    if (!isEmpty) yield { line: this.#began, cells, ...(this.#fault !== undefined && { fault: this.#fault }) };
    this.#cells = [];
    this.#cell = '';
    this.#size = 0;
    this.#fault = undefined;
    this.#state = 'start';
    this.#began = this.#line;
  }
}
