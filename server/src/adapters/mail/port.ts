/** One mail, ready to go. */
export interface Mail {
  /** The same at every attempt: it becomes the Message-ID, by which a repeat is recognised. Letters, digits and dashes. */
  readonly id: string;
  /** One bare address, `ada@example.com`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Where one click unsubscribes, for mails that are not about the recipient's own affairs (RFC 8058). */
  readonly unsubscribeUrl?: string;
  /** Where answers go, one bare address. Left out: to the sender. */
  readonly replyTo?: string;
  /** Where mail servers write that it could not be delivered, one bare address. Left out: to the sender. */
  readonly returnPath?: string;
}

export interface MailSender {
  /**
   * Resolves once somebody else is responsible for the mail.
   * @param beforeHandover called when its recipient was accepted, right before the end of its text goes out: until it resolves nobody has
   * the mail, and when it rejects nobody will. A failure after it, other than the two below, leaves open whether the mail was taken.
   * @throws MailRefused when this mail will never be taken, MailDeferred when it was not taken for now; any other failure may pass
   */
  send(mail: Mail, beforeHandover?: () => Promise<void>): Promise<void>;
  /** Ends idle connections. */
  close(): Promise<void>;
}

/** The recipient or the mail itself was refused permanently: repeating it only hurts the sender's reputation. */
export class MailRefused extends Error {
  readonly of: 'recipient' | 'mail';

  constructor(message: string, options: ErrorOptions & { readonly of: 'recipient' | 'mail' }) {
    super(message, options);
    this.name = 'MailRefused';
    this.of = options.of;
  }
}

/** The mail server has answered that it does not take the mail now. It has not got it. */
export class MailDeferred extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MailDeferred';
  }
}
