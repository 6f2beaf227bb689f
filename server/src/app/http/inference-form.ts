/** Recordings and pictures of a request: OpenAI takes 25 MB of audio, and sixteen pictures of 50 MB. */
export const INFERENCE_FORM = {
  maxBytes: 256 * 1024 * 1024,
  maxFileBytes: 64 * 1024 * 1024,
  maxFiles: 17,
  maxFields: 100,
  maxFieldBytes: 1024 * 1024,
};
