import type { GenerateContentRequest, GooglePart } from '@tallygate/contract';
import { grownBytes, type PromptSize, unescaped } from '../input-bound.ts';

/** What a template adds: to the whole, to each part, to each function. */
const TEMPLATE_TOKENS = 64;
const PART_TOKENS = 16;
const FUNCTION_TOKENS = 32;

type Prompt = Pick<GenerateContentRequest, 'contents' | 'systemInstruction' | 'tools'>;
type Blob = NonNullable<GooglePart['inlineData']>;

function* partsOf({ contents, systemInstruction }: Prompt): Generator<GooglePart> {
  for (const { parts } of [...contents, ...(systemInstruction ? [systemInstruction] : [])])
    for (const part of parts ?? []) {
      yield part;
      for (const { inlineData } of part.functionResponse?.parts ?? []) yield { inlineData };
    }
}

const isImage = (mimeType: string | null | undefined): boolean => /^image\//i.test(mimeType ?? '');
/** Base64 that is no text, and which the window bounds. Any other file may be as many tokens as it has bytes. */
const isNoText = ({ mimeType }: Blob): boolean => /^(?:image|audio|video)\/|^application\/pdf$/i.test(mimeType);

/**
 * How large the prompt can be at most that Google is sent as it came: with the thoughts of earlier turns, pictures among the instructions and
 * fields that a chat has no like of.
 * @param bytes of all that is sent
 */
export function contentPromptSize(request: GenerateContentRequest, bytes: number): PromptSize {
  let parts = 0;
  let images = 0;
  let inlineBytes = 0;
  let isOpenEnded = false;
  for (const { inlineData, fileData } of partsOf(request)) {
    parts += 1;
    if (inlineData && isNoText(inlineData)) inlineBytes += inlineData.data.length;
    const medium = inlineData ?? fileData;
    if (!medium) continue;
    if (isImage(medium.mimeType)) images += 1;
    else isOpenEnded = true;
  }
  const functions = (request.tools ?? []).reduce((sum, { functionDeclarations }) => sum + (functionDeclarations?.length ?? 0), 0);
  return {
    textBytes: bytes + grownBytes(request) - inlineBytes,
    templateTokens: TEMPLATE_TOKENS + parts * PART_TOKENS + functions * FUNCTION_TOKENS,
    images,
    audioTokens: 0,
    isOpenEnded,
    hasTools: functions > 0,
  };
}

/** Everything that may become part of the prompt, to be counted: pictures are counted apart. */
export function contentBoundText({ models: _, ...request }: GenerateContentRequest): string {
  const withoutData = (part: GooglePart): GooglePart => ({
    ...part,
    ...(part.inlineData && { inlineData: { ...part.inlineData, data: '' } }),
    ...(part.functionResponse && {
      functionResponse: {
        ...part.functionResponse,
        parts: part.functionResponse.parts?.map(({ inlineData }) => ({ inlineData: { ...inlineData, data: '' } })),
      },
    }),
  });
  return unescaped({
    ...request,
    contents: request.contents.map(({ parts, ...content }) => ({ ...content, parts: parts?.map(withoutData) })),
  });
}
