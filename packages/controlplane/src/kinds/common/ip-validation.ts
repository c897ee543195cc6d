import { invalidValue } from '../../schema/field-errors.ts'
import type { Network } from '../../schema/formats/addresses.ts'
import { isMapped, maskAddress, parseAddress, parseNetwork } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'

/** Validates an IP address. For endpoints kube-apiserver reports an invalid address twice. */
export function validateAddress(address: string, field: string, isEndpoint = false): FieldError[] {
  const parsed = parseAddress(address)
  if (parsed && isMapped(parsed)) return [invalidValue(field, address, 'must not be an IPv4-mapped IPv6 address')]
  if (parsed) return isEndpoint ? validateReach(parsed, address, field) : []
  if (parseAddress(address, { allowLeadingZeros: true })) {
    return [invalidValue(field, address, 'must not have leading 0s')]
  }
  const errors = [invalidValue(field, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
  if (isEndpoint) errors.push(invalidValue(field, address, 'must be a valid IP address'))
  return errors
}

/** Rejects addresses that no endpoint can have. */
function validateReach(parsed: readonly number[], address: string, field: string): FieldError[] {
  const isV4 = parsed.length === 4
  const errors: FieldError[] = []
  const addError = (detail: string): number => errors.push(invalidValue(field, address, detail))
  if (parsed.every((byte) => byte === 0)) addError(`may not be unspecified (${isV4 ? '0.0.0.0' : '::'})`)
  if (isV4 ? parsed[0] === 127 : parsed.every((byte, index) => byte === (index === 15 ? 1 : 0))) {
    addError('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (isV4 ? parsed[0] === 169 && parsed[1] === 254 : parsed[0] === 0xfe && ((parsed[1] ?? 0) & 0xc0) === 0x80) {
    addError('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (isV4 ? parsed[0] === 224 && parsed[1] === 0 && parsed[2] === 0 : parsed[0] === 0xff && parsed[1] === 2) {
    addError('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  }
  return errors
}

/** Parses a CIDR as older API servers do: leading zeros are allowed. */
export function looseNetwork(text: string): Network | undefined {
  return parseNetwork(text.replace(/\/0+(?=\d)/, '/'), { allowLeadingZeros: true })
}

/** Validates a CIDR. */
export function validateNetwork(text: string, field: string): FieldError[] {
  const network = looseNetwork(text)
  if (!network) {
    return [invalidValue(field, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  }
  const { address, bits } = network
  const errors: FieldError[] = []
  if (!parseNetwork(text)) errors.push(invalidValue(field, text, 'must not have leading 0s in IP or prefix length'))
  if (isMapped(address)) errors.push(invalidValue(field, text, 'must not have an IPv4-mapped IPv6 address'))
  else if (!maskAddress(address, bits).every((byte, index) => byte === address[index])) {
    errors.push(invalidValue(field, text, 'must not have bits set beyond the prefix length'))
  }
  return errors
}
