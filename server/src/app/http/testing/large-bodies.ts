/** Bodies near the largest that is taken, in order, for tests of what they cost. */

const BYTES = 9_800_000;
const filled = (unit: string, bytes = BYTES): string => unit.repeat(Math.floor(bytes / unit.length));
const listed = (element: string, bytes = BYTES): string => `[${filled(`${element},`, bytes - element.length)}${element}]`;

const WORDS = filled('Hello, world. ');
const PARAGRAPH = filled('Hello, world. ', 700);
const PICTURE = filled('iVBORw0KGgoAAAANSUhEUgAA');
const SMALL_PICTURE = filled('iVBORw0KGgoAAAANSUhEUgAA', 2_400);
/** Half of it is escapes, in JSON of JSON most of it. */
const ESCAPED = `{"a":"${filled('He said: \\"no\\"\\n', BYTES / 2)}"}`;
const TOOL = `"description":"${filled('Hello, world. ', 75_000)}"`;
const SCHEMA = '{"type":"object","properties":{"a":{"type":"string"}}}';
const tools = (written: (name: string) => string): string => `[${Array.from({ length: 120 }, (_, at) => written(`f${at}`)).join()}]`;

/** What of a request is large, by its name. */
export type LargeFields = Readonly<Record<string, string>>;

const image = (data: string): string => `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}`;
const toolUse = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${ESCAPED}}]}`;
const toolResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"${PARAGRAPH}"}]}]}`;

export const LARGE_MESSAGES: LargeFields = {
  'a text': `"messages":[{"role":"user","content":"${WORDS}"}]`,
  'a text that is not ASCII': `"messages":[{"role":"user","content":"${filled('привет ', BYTES / 2)}"}]`,
  'many turns': `"messages":${listed(`{"role":"user","content":"${PARAGRAPH}"}`)}`,
  'many blocks': `"messages":[{"role":"user","content":${listed(`{"type":"text","text":"${PARAGRAPH}"}`)}}]`,
  'the input of a tool': `"messages":[{"role":"user","content":"Hi"},${toolUse},${toolResult}]`,
  'a picture': `"messages":[{"role":"user","content":[${image(PICTURE)}]}]`,
  'many pictures': `"messages":[{"role":"user","content":${listed(image(SMALL_PICTURE))}}]`,
  'descriptions of tools': `"messages":[{"role":"user","content":"Hi"}],"tools":${tools((name) => `{"name":"${name}",${TOOL},"input_schema":${SCHEMA}}`)}`,
};

const imageUrl = (data: string): string => `{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}`;
const functionCall = `{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(ESCAPED)}}}`;

export const LARGE_CHATS: LargeFields = {
  'a text': `"messages":[{"role":"user","content":"${WORDS}"}]`,
  'many turns': `"messages":${listed(`{"role":"user","content":"${PARAGRAPH}"}`)}`,
  'the arguments of a tool': `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[${functionCall}]}]`,
  'many pictures': `"messages":[{"role":"user","content":${listed(imageUrl(SMALL_PICTURE))}}]`,
  'descriptions of tools': `"messages":[{"role":"user","content":"Hi"}],"tools":${tools((name) => `{"type":"function","function":{"name":"${name}",${TOOL},"parameters":${SCHEMA}}}`)}`,
};

const inputImage = `{"type":"input_image","image_url":"data:image/png;base64,${SMALL_PICTURE}"}`;

export const LARGE_INPUTS: LargeFields = {
  'a text': `"input":"${WORDS}"`,
  'many items': `"input":${listed(`{"role":"user","content":"${PARAGRAPH}"}`)}`,
  'the arguments of a tool': `"input":[{"type":"function_call","call_id":"a","name":"f","arguments":${JSON.stringify(ESCAPED)}}]`,
  'many pictures': `"input":[{"role":"user","content":${listed(inputImage)}}]`,
};

/** The most that a request may have. */
const TEXTS = 2_048;
const TEXT = `"${filled('Hello, world. ', 4_780)}"`;

export const LARGE_EMBEDDINGS: LargeFields = { 'many texts': `"input":[${`${TEXT},`.repeat(TEXTS - 1)}${TEXT}]` };

const DOCUMENT = `"${filled('Hello, world. ', 1_020)}"`;
export const LARGE_RANKED: LargeFields = {
  'many documents': `"query":"Which?","return_documents":true,"documents":${listed(DOCUMENT)}`,
  'documents with fields': `"query":"Which?","return_documents":true,"documents":${listed(`{"text":${DOCUMENT}}`)}`,
};

export const LARGE_PROMPTS: LargeFields = {
  'a text': `"prompt":"${WORDS}"`,
  'many texts': `"prompt":[${`${TEXT},`.repeat(TEXTS - 1)}${TEXT}]`,
};

const JUDGED = filled('Hello, world. ', 160_000);
const LINK = `{"type":"image_url","image_url":{"url":"https://example.com/${filled('a1', 160_000)}"}}`;

export const LARGE_JUDGED: LargeFields = {
  'a text': `"input":"${WORDS}"`,
  'many texts': LARGE_EMBEDDINGS['many texts'] ?? '',
  'texts in parts': `"input":${listed(`{"type":"text","text":"${JUDGED}"}`)}`,
  links: `"input":${listed(LINK)}`,
};

const inlineData = `{"inlineData":{"mimeType":"image/png","data":"${SMALL_PICTURE}"}}`;

export const LARGE_CONTENTS: LargeFields = {
  'many turns': `"contents":${listed(`{"role":"user","parts":[{"text":"${PARAGRAPH}${PARAGRAPH}"}]}`)}`,
  'the arguments of a tool': `"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ESCAPED}}}]}]`,
  'many pictures': `"contents":[{"role":"user","parts":${listed(inlineData)}}]`,
};

const editedImage = `{"image_url":"data:image/png;base64,${filled('iVBORw0KGgoAAAANSUhEUgAA', 612_000)}"}`;
export const LARGE_EDITS: LargeFields = { 'sixteen pictures': `"prompt":"Hi","images":[${`${editedImage},`.repeat(15)}${editedImage}]` };

const saidItem = `{"type":"message","role":"user","content":[{"type":"input_text","text":"${filled('Hello, world. ', 490_000)}"}]}`;
/** As many as one request may add. */
export const LARGE_ITEMS = `[${`${saidItem},`.repeat(19)}${saidItem}]`;

const BOUNDARY = 'b0';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A form with one file. */
export function formOf(fields: Readonly<Record<string, string>>, field: string, filename: string, file: Buffer): Buffer {
  const partOf = (name: string, value: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = Object.entries(fields).map(([name, value]) => partOf(name, value));
  const opening = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head.join('') + opening), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** Of 16-bit samples: WAV as it is. */
export function silence(bytes: number): Buffer {
  const wav = Buffer.alloc(bytes);
  wav.write('RIFF');
  wav.writeUInt32LE(bytes - 8, 4);
  wav.write('WAVEfmt ', 8);
  for (const [at, value] of [
    [16, 16],
    [24, 48_000],
    [28, 96_000],
  ] as const)
    wav.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    wav.writeUInt16LE(value, at);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes - 44, 40);
  return wav;
}

const lineOf = (id: string, url: string, body: string): string => `{"custom_id":"${id}","method":"POST","url":"${url}","body":${body}}\n`;

/** Files of batches of chat completions. Of many lines each asks for another endpoint, and fails by itself. */
export const LARGE_FILES: Readonly<Record<string, (model: string) => string>> = {
  'one large line': (model) =>
    lineOf('a', '/v1/chat/completions', `{"model":"${model}","max_completion_tokens":10,${LARGE_CHATS['many turns']}}`),
  'many lines': (model) =>
    Array.from({ length: 6_000 }, (_, at) =>
      lineOf(`a${at}`, '/v1/embeddings', `{"model":"${model}","messages":[{"role":"user","content":"${PARAGRAPH}"}]}`),
    ).join(''),
};
