type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidValue' | 'uniqueness' | 'mutability' | 'noTarget';

/** A refusal in the words of RFC 7644, 3.12. */
export class ScimError extends Error {
  override readonly name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}
