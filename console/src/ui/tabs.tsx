interface TabsProps<Tab extends string> {
  readonly label: string;
  readonly tabs: readonly (readonly [tab: Tab, text: string])[];
  readonly shown: Tab;
  readonly onShow: (tab: Tab) => void;
}

/** Which list of a page is shown: the page keeps it in its address. */
export const Tabs = <Tab extends string>({ label, tabs, shown, onShow }: TabsProps<Tab>) => (
  <fieldset className="tabs">
    <legend className="unseen">{label}</legend>
    {tabs.map(([tab, text]) => (
      <button key={tab} type="button" aria-pressed={tab === shown} onClick={() => onShow(tab)}>
        {text}
      </button>
    ))}
  </fieldset>
);
