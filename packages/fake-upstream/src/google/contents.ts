import { type Fields, isFields } from '../fields.ts';
import { unknownName } from './unknown-name.ts';

const KNOWN_CONTENT = new Set(['role', 'parts']);
const DATA = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];
const KNOWN_PART = new Set([...DATA, 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution', 'partMetadata']);

/** Part by part, then the order of calls and their results. */
export function whatIsWrongWithContents({ contents, systemInstruction }: Fields, model: string): string | undefined {
  if (!Array.isArray(contents) || contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified';
  const all = contents.filter(isFields);
  for (const content of [...all, ...(isFields(systemInstruction) ? [systemInstruction] : [])]) {
    const wrong = wrongContent(content);
    if (wrong !== undefined) return wrong;
  }
  if (all.some(({ role }) => role !== undefined && role !== 'user' && role !== 'model')) return 'Please use a valid role: user, model.';
  return wrongOrder(all) ?? wrongSignatures(all, model);
}

const partsIn = ({ parts }: Fields): Fields[] => (Array.isArray(parts) ? parts.filter(isFields) : []);
const withField = (content: Fields | undefined, field: string): Fields[] =>
  content ? partsIn(content).filter((part) => field in part) : [];

function wrongContent(content: Fields): string | undefined {
  const unknown = unknownName(content, KNOWN_CONTENT);
  if (unknown !== undefined) return unknown;
  if (partsIn(content).length === 0) return '* GenerateContentRequest.contents.parts: contents.parts must not be empty.';
  return partsIn(content)
    .map(wrongPart)
    .find((wrong) => wrong !== undefined);
}

function wrongPart(part: Fields): string | undefined {
  const unknown = unknownName(part, KNOWN_PART);
  if (unknown !== undefined) return unknown;
  if (DATA.filter((field) => field in part).length !== 1)
    return 'contents.parts.data: required oneof field must have one initialized field';
  const { inlineData, fileData, functionCall, functionResponse } = part;
  if (isFields(inlineData) && !/^[A-Za-z0-9+/_-]+=*$/.test(String(inlineData['data']))) return 'Base64 decoding failed';
  if (isFields(inlineData) && typeof inlineData['mimeType'] !== 'string') return 'Unsupported MIME type: ';
  if (isFields(fileData) && typeof fileData['fileUri'] !== 'string') return 'Invalid or unsupported file uri';
  if (isFields(functionCall) && !(typeof functionCall['name'] === 'string' && isFields(functionCall['args'])))
    return 'function_call.name and function_call.args are required.';
  if (isFields(functionResponse) && !(typeof functionResponse['name'] === 'string' && isFields(functionResponse['response'])))
    return 'function_response.name and function_response.response are required.';
  return undefined;
}

function wrongOrder(contents: readonly Fields[]): string | undefined {
  for (const [at, content] of contents.entries()) {
    const before = contents[at - 1];
    const calls = withField(content, 'functionCall').length;
    if (calls > 0 && (content['role'] !== 'model' || before?.['role'] !== 'user'))
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    const results = withField(content, 'functionResponse').length;
    const asked = withField(before, 'functionCall').length;
    if (results > 0 && results !== partsIn(content).length) return 'Function response turns hold function responses only.';
    if (results !== asked)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  return undefined;
}

/** Since Gemini 3: after the last user message, every turn's first call has a signature. */
function wrongSignatures(contents: readonly Fields[], model: string): string | undefined {
  if (!model.startsWith('gemini-3')) return undefined;
  const said = contents.findLastIndex((content) => content['role'] === 'user' && withField(content, 'functionResponse').length === 0);
  const unsigned = contents
    .slice(said + 1)
    .flatMap((content) => withField(content, 'functionCall').slice(0, 1))
    .find((call) => typeof call['thoughtSignature'] !== 'string');
  return unsigned && 'Function call is missing a thought_signature in functionCall parts.';
}
