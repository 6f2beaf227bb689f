import { SAMPLES } from '../../../samples/index.ts';
import { exampleOf, type Operation } from './document.ts';
import { legibleJson } from './legible-json.ts';

export interface RequestSample {
  readonly label: 'curl' | 'SDK' | 'OpenAI SDK' | 'CLI';
  readonly language: 'sh' | 'ts';
  readonly code: string;
}

/** How an operation is called, in the forms it can be called in; curl is written from the document, and so is the SDK where it only passes the input on; the others are in docs/samples. */
export function samplesOf(operation: Operation): RequestSample[] {
  const { sdk = operation.sdkSample, openai, cli } = SAMPLES[operation.id] ?? {};
  return [
    { label: 'curl', language: 'sh', code: curlOf(operation) },
    ...(sdk === undefined
      ? []
      : [
          {
            label: 'SDK',
            language: 'ts',
            code: withClient("import { Tallygate } from '@tallygate/sdk';", 'const tallygate = new Tallygate();', sdk),
          } as const,
        ]),
    ...(openai === undefined
      ? []
      : [
          {
            label: 'OpenAI SDK',
            language: 'ts',
            code: withClient("import OpenAI from 'openai';", 'const client = new OpenAI();', openai),
          } as const,
        ]),
    ...(cli === undefined ? [] : [{ label: 'CLI', language: 'sh', code: cli } as const]),
  ];
}

const withClient = (imported: string, made: string, call: string): string => `${imported}\n\n${made}\n${call}`;

/** One command that can be pasted: variables hold the address and the credential, ids are those of the example. */
export function curlOf({ method, path, parameters, body, security }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(parameters.find((parameter) => parameter.name === name)?.schema.examples?.[0] ?? `$${name.toUpperCase()}`),
  );
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(schema.examples?.[0] ?? ''))}`);
  const [type, media] = Object.entries(body?.content ?? {})[0] ?? [];
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$TALLYGATE_BASE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
  ];
  const schemes = security.flatMap((entry) => Object.keys(entry));
  if (schemes.includes('bearerAuth'))
    lines.push(`-H "Authorization: Bearer ${schemes.includes('apiKey') ? '$TALLYGATE_API_KEY' : '$TALLYGATE_SESSION_TOKEN'}"`);
  if (schemes.includes('internalSecret')) lines.push('-H "X-Internal-Secret: $INTERNAL_SECRET"');
  if (type === 'application/json' && media) {
    lines.push(
      '-H "Content-Type: application/json"',
      `-d '${legibleJson(exampleOf(media) ?? {})
        .replaceAll('\n', '\n  ')
        .replaceAll("'", "'\\''")}'`,
    );
  } else if (type === 'multipart/form-data' && media) {
    for (const [name, value] of Object.entries((exampleOf(media) ?? {}) as Record<string, unknown>))
      lines.push(`-F '${name}=${String(value)}'`);
  }
  return lines.join(' \\\n  ');
}
