/** One mail, ready to go. */
export interface Mail {
  /** The same at every attempt: it becomes the Message-ID, by which a repeat is recognised. Letters, digits and dashes. */
  readonly id: string;
  /** One bare address, `ada@example.com`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailSender {
  /**
   * Resolves once somebody else is responsible for the mail.
   * @throws MailRefused when this mail will never be taken; any other failure may pass
   */
  send(mail: Mail): Promise<void>;
  /** Ends idle connections. */
  close(): Promise<void>;
}

/** The recipient or the mail itself was refused for good: repeating it only hurts the sender's reputation. */
export class MailRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MailRefused';
  }
}
