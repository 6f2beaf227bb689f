import type { MarketingEmailTemplateRecord } from '@tallygate/sdk';
import { Field, given } from '../ui/dialog.tsx';

const fieldOf = (name: string): string => `variable ${name}`;

/** A field for each variable of a template, with its default. */
export function TemplateVariables({ template }: { template: MarketingEmailTemplateRecord }) {
  const names = [...new Set([...template.missing_variables, ...Object.keys(template.variables)])];
  return names.map((name) => (
    <Field
      key={name}
      name={fieldOf(name)}
      label={`{{${name}}}`}
      defaultValue={template.variables[name] ?? ''}
      isRequired={template.missing_variables.includes(name)}
      autoComplete="off"
    />
  ));
}

/** What was typed for them, where it is not the default. */
export function variablesOf(fields: FormData, template: MarketingEmailTemplateRecord): Record<string, string> {
  const names = [...template.missing_variables, ...Object.keys(template.variables)];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = given(fields, fieldOf(name));
      return value === undefined || value === template.variables[name] ? [] : [[name, value]];
    }),
  );
}
