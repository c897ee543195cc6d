const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const LONGEST = 253

/** Whether it can be the name of an object, or what the names of annotations and labels begin with. */
export function isDnsName(text: string): boolean {
  return text.length <= LONGEST && DNS_NAME.test(text)
}
