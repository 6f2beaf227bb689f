/** How one operation is called; what is left out does not exist in that form. */
export interface Sample {
  /** Statements after `const tallygate = new Tallygate();`, where they do not follow from the contract (`x-codeSamples` of the document). */
  readonly sdk?: string;
  /** Statements after `const client = new OpenAI();`. */
  readonly openai?: string;
  /** One command line, or several. */
  readonly cli?: string;
}

export type Samples = Readonly<Record<string, Sample>>;
