/**
 * Cases in which the embedded server responds differently, with the reason. A fixed difference must be removed from the
 * list.
 */
const NO_CONTAINERS =
  'exec, attach, port forwarding and proxies need nodes with containers; the embedded nodes are simulated'

export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'discovery of the core': NO_CONTAINERS,
  'discovery of all at once': NO_CONTAINERS,
  'watch too far back':
    'the real server has no history of a kind before it first served it; the embedded one has a single history that still holds that version',
  'definition refuses a rule that is too dear':
    "a rule's cost is limited when it runs, and not estimated beforehand from the sizes that the schema allows",
  'refuse rules of scaling without a policy':
    'the embedded server drops an empty list of an optional field while decoding; the real one keeps it until validation',
  'error custom resources with deeper nesting':
    'the embedded server accepts 500 levels, the real one 10,000: recursive code runs out of stack beyond about 900 levels in an apply',
  'discovery of schemas': 'descriptions of request parameters and defaults of map values are missing',
}
