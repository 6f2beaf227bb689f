import type * as contract from '@tallygate/contract';
import { expect, it } from 'vitest';
import { errorsModule } from '../../scripts/generate-errors.ts';
import { modelsModule } from '../../scripts/generate-models.ts';
import type * as sdk from './models.ts';

/** Resolves to `true` only where each type can stand in for the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const sameAsTheContract: {
  ChatCompletion: Same<sdk.ChatCompletion, contract.ChatCompletion>;
  ChatCompletionChunk: Same<sdk.ChatCompletionChunk, contract.ChatCompletionChunk>;
  ChatCompletionRequest: Same<sdk.ChatCompletionRequest, contract.ChatCompletionRequest>;
  HTTPValidationError: Same<sdk.HTTPValidationError, contract.HTTPValidationError>;
  KeyCreatedResponse: Same<sdk.KeyCreatedResponse, contract.KeyCreatedResponse>;
  KeyResponse: Same<sdk.KeyResponse, contract.KeyResponse>;
  LoginMfaRequiredResponse: Same<sdk.LoginMfaRequiredResponse, contract.LoginMfaRequiredResponse>;
  Model: Same<sdk.Model, contract.Model>;
  Problem: Same<sdk.Problem, contract.Problem>;
  ReceiptResponse: Same<sdk.ReceiptResponse, contract.ReceiptResponse>;
  RequestTrace: Same<sdk.RequestTrace, contract.RequestTrace>;
  UsageResponse: Same<sdk.UsageResponse, contract.UsageResponse>;
  UserResponse: Same<sdk.UserResponse, contract.UserResponse>;
  VaasKeySet: Same<sdk.VaasKeySet, contract.VaasKeySet>;
} = {
  ChatCompletion: true,
  ChatCompletionChunk: true,
  ChatCompletionRequest: true,
  HTTPValidationError: true,
  KeyCreatedResponse: true,
  KeyResponse: true,
  LoginMfaRequiredResponse: true,
  Model: true,
  Problem: true,
  ReceiptResponse: true,
  RequestTrace: true,
  UsageResponse: true,
  UserResponse: true,
  VaasKeySet: true,
};

it('has the generated records say what the contract’s schemas infer', () => {
  // The type checker proves it: each `true` above compiles only where the two types are interchangeable.
  expect(Object.values(sameAsTheContract)).not.toContain(false);
});

it('commits generated files that are fresh', async () => {
  await expect(modelsModule()).toMatchFileSnapshot('models.ts');
  await expect(errorsModule()).toMatchFileSnapshot('errors.ts');
});
