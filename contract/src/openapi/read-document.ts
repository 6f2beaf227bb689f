interface Reference {
  readonly $ref?: unknown;
}

/** The shared parameters and answers of several operations. */
const SHARED = /^#\/components\/(parameters|responses)\/(.+)$/;

/** An OpenAPI document with the parameters and answers that its operations only refer to put in their places. */
export function readDocument<Document>(text: string): Document {
  const { components } = JSON.parse(text);
  return JSON.parse(text, (_name, value: Reference | null) => {
    const [, kind = '', name = ''] = SHARED.exec(String(value?.$ref)) ?? [];
    return components?.[kind]?.[name] ?? value;
  });
}
