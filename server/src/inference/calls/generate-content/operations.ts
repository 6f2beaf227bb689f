import { BatchEmbedContentsRequest, contract, EmbedContentRequest, GenerateContentRequest } from '@tallygate/contract';
import * as z from 'zod';
import { type Operation, operation } from '../operation.ts';
import { inCamelCase, type Twice } from './camel-case.ts';
import { batchEmbedContentsWork, EMBED_CONTENT, embedContentWork } from './embed-content-work.ts';
import { GENERATE_CONTENT, generateContentWork } from './generate-content-work.ts';

const { inference } = contract;

/** Google's fields may be written in snake case; one that comes in both is refused. */
const inEitherCase = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value, context) => {
    const twice = (found: Twice) =>
      context.addIssue({ code: 'custom', path: [...found.path], message: `is there twice: write \`${found.name}\` alone` });
    return inCamelCase(value, twice);
  }, schema);

/** Google's operations that run a model. */
export const googleOperations = (): Operation[] => [
  operation(inference.generateContent, {
    endpoint: GENERATE_CONTENT,
    schema: inEitherCase(GenerateContentRequest),
    work: (request, received) => generateContentWork(request, received, false),
  }),
  operation(inference.streamGenerateContent, {
    endpoint: GENERATE_CONTENT,
    schema: inEitherCase(GenerateContentRequest),
    work: (request, received) => generateContentWork(request, received, true),
  }),
  operation(inference.embedContent, { endpoint: EMBED_CONTENT, schema: inEitherCase(EmbedContentRequest), work: embedContentWork }),
  operation(inference.batchEmbedContents, {
    endpoint: EMBED_CONTENT,
    schema: inEitherCase(BatchEmbedContentsRequest),
    work: batchEmbedContentsWork,
  }),
];
