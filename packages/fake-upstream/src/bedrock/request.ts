import { type Fields, isFields } from '../fields.ts';
import { toolsIn } from './answer.ts';

const KNOWN = new Set([
  ...['messages', 'system', 'inferenceConfig', 'toolConfig', 'guardrailConfig', 'additionalModelRequestFields', 'requestMetadata'],
  ...['additionalModelResponseFieldPaths', 'promptVariables', 'performanceConfig', 'serviceTier', 'outputConfig', 'projectIdentifier'],
]);
const BLOCKS = ['text', 'image', 'document', 'video', 'audio', 'toolUse', 'toolResult', 'cachePoint', 'reasoningContent', 'guardContent'];
const IMAGES = new Set(['png', 'jpeg', 'gif', 'webp']);
const DOCUMENTS = new Set(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What Converse would refuse, in about its words; undefined where it would answer. By the service model of botocore 1.43. */
export function whatIsWrongWith(body: Fields): string | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `The model returned the following errors: extraneous key [${unknown}] is not permitted`;
  const { messages, system = [] } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    return 'The value at messages is empty. Add a message to the conversation and try again.';
  const all = messages.filter(isFields);
  for (const message of all) {
    const wrong = wrongMessage(message);
    if (wrong !== undefined) return wrong;
  }
  if (!Array.isArray(system) || !system.every((block) => isFields(block) && ('text' in block || 'cachePoint' in block)))
    return 'The value at system is not valid.';
  return wrongOrder(all) ?? wrongTools(body, all) ?? wrongConfig(body);
}

const blocksIn = ({ content }: Fields): Fields[] => (Array.isArray(content) ? content.filter(isFields) : []);
const within = (message: Fields | undefined, name: string): Fields[] =>
  message ? blocksIn(message).flatMap((block) => (isFields(block[name]) ? [block[name]] : [])) : [];

function wrongMessage(message: Fields): string | undefined {
  const blocks = blocksIn(message);
  if (message['role'] !== 'user' && message['role'] !== 'assistant')
    return 'A conversation must alternate between user and assistant roles.';
  if (blocks.length === 0) return 'The content field in the Message object is empty.';
  if (blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block))
    return 'A text block must be included when a document is.';
  return blocks.map(wrongBlock).find((wrong) => wrong !== undefined);
}

function wrongBlock(block: Fields): string | undefined {
  const [name, ...others] = Object.keys(block);
  if (name === undefined || others.length > 0 || !BLOCKS.includes(name))
    return 'A content block must have one member, and one that is known.';
  const { text, image, document, toolUse, toolResult, reasoningContent } = block;
  if ('text' in block && String(text).trim() === '') return 'The text field in the ContentBlock object is blank.';
  if (isFields(image)) return wrongMedium(image, IMAGES);
  if (isFields(document))
    return /^[A-Za-z0-9 ()[\]-]{1,200}$/.test(String(document['name'])) && !/ {2}/.test(String(document['name']))
      ? wrongMedium(document, DOCUMENTS)
      : 'The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets.';
  if (isFields(toolUse)) return isFields(toolUse['input']) ? wrongId(toolUse) : 'The format of the value at toolUse.input is invalid.';
  if (isFields(toolResult))
    return (
      wrongId(toolResult) ??
      blocksIn(toolResult)
        .map(wrongBlock)
        .find((wrong) => wrong !== undefined)
    );
  if (!isFields(reasoningContent) || !isFields(reasoningContent['reasoningText'])) return undefined;
  return typeof reasoningContent['reasoningText']['text'] === 'string' ? undefined : 'reasoningText.text is required.';
}

const wrongId = ({ toolUseId: id }: Fields): string | undefined =>
  typeof id === 'string' && /^[a-zA-Z0-9_.:-]{1,64}$/.test(id) ? undefined : 'The value at toolUseId failed to satisfy the pattern.';

function wrongMedium({ format, source }: Fields, formats: ReadonlySet<string>): string | undefined {
  if (!formats.has(String(format))) return `The value ${String(format)} at format failed to satisfy the enum.`;
  return isFields(source) && typeof source['bytes'] === 'string' && BASE64.test(source['bytes']) ? undefined : 'source.bytes is no base64.';
}

function wrongOrder(messages: readonly Fields[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    if ((before?.['role'] ?? 'assistant') === message['role'])
      return 'A conversation must start with a user message and alternate between user and assistant roles.';
    const asked = within(before, 'toolUse').map(({ toolUseId }) => toolUseId);
    const given = within(message, 'toolResult').map(({ toolUseId }) => toolUseId);
    if (given.length !== asked.length || !given.every((id) => asked.includes(id)))
      return `Expected toolResult blocks at messages.${at}.content for the following Ids: ${asked.join(', ')}`;
  }
  return undefined;
}

function wrongTools(body: Fields, messages: readonly Fields[]): string | undefined {
  const tools = toolsIn(body);
  const hasCalls = messages.some((message) => within(message, 'toolUse').length > 0);
  if (hasCalls && tools.length === 0) return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  if (isFields(body['toolConfig']) && tools.length === 0) return 'The toolConfig.tools list is empty.';
  const wrong = tools.find(({ name, inputSchema, description }) => {
    const isNamed = typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name);
    return !isNamed || !isFields(inputSchema) || !isFields(inputSchema['json']) || description === '';
  });
  return wrong && `The tool ${String(wrong['name'])} is not valid.`;
}

function wrongConfig({ inferenceConfig, additionalModelRequestFields: own }: Fields): string | undefined {
  const config = isFields(inferenceConfig) ? inferenceConfig : {};
  const { maxTokens, temperature, topP } = config;
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && Number(maxTokens) >= 1)) return 'The value at maxTokens is less than 1.';
  for (const [name, value] of Object.entries({ temperature, topP }))
    if (value !== undefined && !(typeof value === 'number' && value >= 0 && value <= 1)) return `The value at ${name} is not in 0..1.`;
  const effort = isFields(own) && isFields(own['reasoningConfig']) ? own['reasoningConfig']['maxReasoningEffort'] : undefined;
  return effort === 'high' && maxTokens !== undefined ? 'maxTokens must be unset when maxReasoningEffort is high.' : undefined;
}
