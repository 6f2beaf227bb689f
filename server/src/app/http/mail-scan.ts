import { Problem } from '../../kernel/problem.ts';

/** Every line may be a header, or begin a part, and costs 2 µs then. */
const MAIL_LINES = 10_000;
/** Of all headers together: each of them may be addresses, and parsing a kilobyte of those takes 0.25 ms. A report has 2 to 20 KiB. */
const MAIL_HEADER_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Counts what a mail consists of as it comes, so that none is parsed that takes long. */
export class MailScan {
  #lines = 0;
  #headerBytes = 0;
  /** Until the first empty line. */
  #isInHeaders = true;
  #isLineEmpty = true;

  /** @throws Problem `body_too_complex` */
  take(chunk: Buffer): void {
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) this.#lines += 1;
    if (this.#lines > MAIL_LINES)
      throw new Problem('body_too_complex', `The mail has more than ${MAIL_LINES} lines: send less of what came back.`);
    for (let at = 0; at < chunk.length && this.#isInHeaders; at += 1) this.#takeOfHeaders(chunk[at]);
  }

  #takeOfHeaders(byte: number | undefined): void {
    this.#headerBytes += 1;
    if (this.#headerBytes > MAIL_HEADER_BYTES)
      throw new Problem(
        'body_too_complex',
        `The headers of the mail have more than ${MAIL_HEADER_BYTES} bytes: send the report as the mail server wrote it, without headers added to it.`,
      );
    if (byte === LINE_FEED) {
      this.#isInHeaders = !this.#isLineEmpty;
      this.#isLineEmpty = true;
    } else if (byte !== CARRIAGE_RETURN) this.#isLineEmpty = false;
  }
}
