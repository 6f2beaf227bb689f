import type { ReceiptUsage } from '@tallygate/contract';
import { JsonMembers } from '../../kernel/json-members.ts';
import { usageSoFar } from '../../kernel/json-so-far.ts';
import { isUsageName } from '../../kernel/stated-usage.ts';
import type { ShownCost, StreamFilter } from './answer-form.ts';
import { isRecord } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** What is to be known of an answer that is passed on as it comes. */
interface PassageForm {
  /** The member that is a list with something in it, where it is an answer at all. */
  readonly list: string;
  readUsage(usage: unknown): ReceiptUsage | undefined;
  /** The value of `usage`. */
  shownUsage(reported: unknown, cost: ShownCost): Json;
}

const EMPTY = Buffer.alloc(0);
const NOTHING = { text: '', scale: 1 };
/** More than any usage takes, and more than comes before any list. */
const MOST_KEPT_BYTES = 64 * 1024;
const BEGUN_LIST = /^\s*\[\s*[^\s\]]/;
const BEGIN_OF_LIST = /^\s*(?:\[\s*)?$/;

/**
 * One JSON object that is too large to be kept: its members pass as the bytes they came in, but for `usage`, which is written anew at the
 * end. Nothing passes before it is known to be an answer, so that until then another provider may be asked.
 */
export class JsonPassage implements StreamFilter {
  readonly contentType = 'application/json';
  readonly error = undefined;
  readonly value = undefined;
  readonly isTooLarge = false;
  readonly #form: PassageForm;
  readonly #members: JsonMembers;
  #passed: Buffer[] = [];
  #passedBytes = 0;
  #hasMember = false;
  #name = '';
  #listHead = '';
  #isAnswer = false;
  #isInvalid = false;
  #usageText: Buffer[] = [];
  #usageBytes = 0;
  #usage: unknown;

  constructor(form: PassageForm) {
    this.#form = form;
    this.#members = new JsonMembers({
      begin: (name) => this.#begin(name),
      value: (bytes) => this.#take(bytes),
      end: () => this.#end(),
    });
  }

  push(chunk: Buffer): Buffer {
    if (this.isOver) return EMPTY;
    this.#members.take(chunk);
    if (!this.#isAnswer) {
      if (this.#passedBytes > MOST_KEPT_BYTES || this.#members.isComplete) this.#isInvalid = true;
      return EMPTY;
    }
    const passed = this.#passed;
    this.#passed = [];
    return passed.length === 1 && passed[0] ? passed[0] : Buffer.concat(passed);
  }

  end(): Buffer {
    return EMPTY;
  }

  get isOver(): boolean {
    return this.#isInvalid || this.#members.isInvalid || this.#members.isComplete;
  }

  get isInvalid(): boolean {
    return this.#isInvalid || this.#members.isInvalid || !this.#isAnswer;
  }

  get isComplete(): boolean {
    return this.#members.isComplete && !this.isInvalid;
  }

  get usage(): ReceiptUsage | undefined {
    return this.#form.readUsage(this.#usage);
  }

  /** It may break off in its usage. */
  get usageSaid(): ReceiptUsage | undefined {
    return this.usage ?? this.#form.readUsage(usageSoFar(Buffer.concat(this.#usageText).toString('utf8')));
  }

  delivered() {
    return NOTHING;
  }

  lastBytes(cost: ShownCost): Buffer {
    const reported = this.usage && isRecord(this.#usage) ? this.#usage : undefined;
    return Buffer.from(`,"usage":${JSON.stringify(this.#form.shownUsage(reported, cost))}}`);
  }

  /** Nothing can be said in the middle of a value: the connection is broken. */
  errorBytes(): undefined {
    return undefined;
  }

  #begin(name: string): void {
    this.#name = name;
    if (isUsageName(name)) {
      this.#usageText = [];
      this.#usageBytes = 0;
      return;
    }
    this.#pass(Buffer.from(`${this.#hasMember ? ',' : '{'}${JSON.stringify(name)}:`));
    this.#hasMember = true;
  }

  #take(bytes: Buffer): void {
    if (isUsageName(this.#name)) {
      this.#usageBytes += bytes.length;
      if (this.#usageBytes > MOST_KEPT_BYTES) this.#isInvalid = true;
      // What it came in is not to be kept for it.
      else this.#usageText.push(Buffer.from(bytes));
      return;
    }
    if (this.#name === this.#form.list && !this.#isAnswer) {
      this.#listHead += bytes.toString('latin1', 0, MOST_KEPT_BYTES);
      this.#isAnswer = BEGUN_LIST.test(this.#listHead);
      if (!this.#isAnswer && !BEGIN_OF_LIST.test(this.#listHead)) this.#isInvalid = true;
    }
    this.#pass(bytes);
  }

  #end(): void {
    if (!isUsageName(this.#name)) return;
    try {
      this.#usage = JSON.parse(Buffer.concat(this.#usageText).toString('utf8'));
    } catch {
      this.#isInvalid = true;
    }
  }

  #pass(bytes: Buffer): void {
    this.#passed.push(bytes);
    this.#passedBytes += bytes.length;
  }
}
