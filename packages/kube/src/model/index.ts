/** Rules of the Kubernetes API model that do not need a client: JSON values, names, selectors, quantities. */
export * from './json.ts'
export * from './label-selector.ts'
export * from './names.ts'
export * from './quantity.ts'
