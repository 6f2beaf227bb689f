import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { costField, fallbackModels, streamField, userField } from './model-fields.ts';

const c = initContract();

const imageFields = {
  model: z
    .string()
    .min(1)
    .max(200)
    .default('gpt-image-1')
    .meta({ description: 'An image model of the catalogue.', examples: ['gpt-image-1'] }),
  models: fallbackModels,
  prompt: z
    .string()
    .min(1)
    .max(32_000)
    .meta({ examples: ['A ledger made of light'] }),
  n: z.int().min(1).max(10).nullable().optional().meta({ description: 'How many images.' }),
  size: z
    .string()
    .regex(/^(auto|\d{2,5}x\d{2,5})$/, 'must be "auto" or a size such as "1024x1024"')
    .nullable()
    .optional()
    .meta({ examples: ['1024x1024'] }),
  quality: z
    .string()
    .nullable()
    .optional()
    .meta({ examples: ['low'] }),
  background: z.enum(['transparent', 'opaque', 'auto']).nullable().optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).nullable().optional(),
  output_compression: z.int().min(0).max(100).nullable().optional(),
  moderation: z.string().nullable().optional(),
  response_format: z.enum(['url', 'b64_json']).nullable().optional(),
  style: z.string().nullable().optional(),
  stream: streamField,
  partial_images: z.int().min(0).max(3).nullable().optional().meta({ description: 'Images to show on the way, in a stream.' }),
  user: userField,
};

export const ImageGenerationRequest = z.looseObject(imageFields).meta({
  id: 'ImageGenerationRequest',
  description: 'OpenAI’s image request. Fields that are not listed here are passed through to the provider.',
  examples: [{ model: 'gpt-image-1', prompt: 'A ledger made of light', size: '1024x1024', quality: 'low' }],
});
export type ImageGenerationRequest = z.infer<typeof ImageGenerationRequest>;

/** The text fields of an edit; in a form the images and the mask come as files beside them. */
export const ImageEditRequest = z.looseObject({ ...imageFields, input_fidelity: z.enum(['high', 'low']).nullable().optional() }).meta({
  id: 'ImageEditRequest',
  description: 'OpenAI’s image edit: a form with `image` or `image[]` (up to 16) and `mask` as files, or JSON with `images` by URL.',
  examples: [{ model: 'gpt-image-1', prompt: 'Make the ledger golden' }],
});
export type ImageEditRequest = z.infer<typeof ImageEditRequest>;

/** The text fields of a variation; the image comes as a file beside them. */
export const ImageVariationRequest = z
  .looseObject({
    model: imageFields.model,
    models: fallbackModels,
    n: imageFields.n,
    size: imageFields.size,
    response_format: imageFields.response_format,
    user: userField,
  })
  .meta({ id: 'ImageVariationRequest', description: 'OpenAI’s image variation: a form with `image` as a file.', examples: [{ n: 1 }] });
export type ImageVariationRequest = z.infer<typeof ImageVariationRequest>;

const TokenParts = z.looseObject({ text_tokens: z.int().optional(), image_tokens: z.int().optional() });

export const ImageList = z
  .looseObject({
    created: z.int().meta({ examples: [1763712000] }),
    data: z.array(z.looseObject({ b64_json: z.string().optional(), url: z.string().optional(), revised_prompt: z.string().optional() })),
    usage: z
      .looseObject({
        total_tokens: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        input_tokens_details: TokenParts.optional(),
        output_tokens_details: TokenParts.optional(),
        cost: costField,
      })
      .optional(),
  })
  .meta({
    id: 'ImageList',
    description: 'The images made.',
    examples: [
      {
        created: 1763712000,
        data: [{ b64_json: 'iVBORw0KGgo=' }],
        usage: {
          total_tokens: 280,
          input_tokens: 8,
          output_tokens: 272,
          input_tokens_details: { text_tokens: 8, image_tokens: 0 },
          cost: 0.01092,
        },
      },
    ],
  });
export type ImageList = z.infer<typeof ImageList>;

export const ImageStreamEvent = z
  .looseObject({
    type: z.string().meta({ examples: ['image_generation.completed'] }),
    b64_json: z.string(),
    partial_image_index: z.int().optional(),
    usage: z.looseObject({ total_tokens: z.int(), input_tokens: z.int(), output_tokens: z.int(), cost: costField }).optional(),
  })
  .meta({
    id: 'ImageStreamEvent',
    description: 'A partial image, or a complete one.',
    examples: [{ type: 'image_generation.partial_image', b64_json: 'iVBORw0KGgo=', partial_image_index: 0 }],
  });
export type ImageStreamEvent = z.infer<typeof ImageStreamEvent>;

export const images = c.router({
  createImage: {
    method: 'POST',
    path: '/v1/images/generations',
    summary: 'Create images',
    description: 'OpenAI’s image generation, plain or streamed with partial images.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: ImageGenerationRequest,
    responses: { 200: ImageList, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Images',
      operationId: 'createImage',
      tool: 'spend',
      events: ImageStreamEvent,
    } as const,
  },
  editImage: {
    method: 'POST',
    path: '/v1/images/edits',
    summary: 'Edit images',
    description: 'OpenAI’s image edit, plain or streamed. A form with up to 16 images and a mask, or JSON with `images` by URL.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    contentType: 'multipart/form-data',
    body: ImageEditRequest.extend({
      image: binary('The image; several as `image[]`.').optional(),
      mask: binary('Where to edit: transparent there.').optional(),
    }),
    responses: { 200: ImageList, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Images',
      operationId: 'editImage',
      body: 'form-or-json',
      events: ImageStreamEvent,
    } as const,
  },
  varyImage: {
    method: 'POST',
    path: '/v1/images/variations',
    summary: 'Vary an image',
    description: 'OpenAI’s image variations, for the models that have them.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    contentType: 'multipart/form-data',
    body: ImageVariationRequest.extend({ image: binary('The image.') }),
    responses: { 200: ImageList, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Images', operationId: 'varyImage' } as const,
  },
});
