interface ChoicesProps<Value extends string> {
  /** Of the form: `getAll` has what is chosen. */
  readonly name: string;
  readonly legend: string;
  readonly options: readonly Value[];
  readonly chosen: readonly Value[];
}

/** Any number of a few. */
export const Choices = <Value extends string>({ name, legend, options, chosen }: ChoicesProps<Value>) => (
  <fieldset className="choices">
    <legend>{legend}</legend>
    {options.map((option) => (
      <label key={option}>
        <input type="checkbox" name={name} value={option} defaultChecked={chosen.includes(option)} /> {option}
      </label>
    ))}
  </fieldset>
);
