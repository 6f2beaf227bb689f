import type { IncomingHttpHeaders } from 'node:http';
import type { Bill } from './bill.ts';
import type { Form } from './openai/form.ts';

/** A request as the provider saw it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, undefined where it is none. */
  readonly body: unknown;
  readonly rawBody: Buffer;
  /** The body where it is multipart/form-data: text fields and files, in order. */
  readonly form: Form | undefined;
  /** The client's end of the connection: the same port twice is a reused connection. */
  readonly clientPort: number;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** Body bytes written so far; unchanged while the client does not read. */
  readonly bytesSent: number;
  /** The client went away before the answer ended. */
  readonly aborted: boolean;
  /** The provider's charge so far, disconnects included; final once the answer has ended, or the client has disconnected. */
  readonly billed: Bill;
  /** Settles when the answer ended or the connection did. */
  readonly ended: Promise<'answered' | 'aborted' | 'cut'>;
}
