-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissector of the OR protocol, see Documentation/or-protocol.md:
--
--	tshark -X lua_script:tools/or-dissector/or.lua ...
--
-- Fields are onramp.*; onramp.error holds what a receiver would refuse the message for, under
-- the names of enum or_error. Tags and counts are shown, not checked.

local OR_PORT = 299
local OR_VERSION = 2
local TYPE_SUBSCRIBE = 1
local TYPE_ACK = 2
local TYPE_CHALLENGE = 3
local TYPE_CNP = 4
local HOLD_MAX_US = 1000000
local LIFETIME_MAX = 120

local types = { [TYPE_SUBSCRIBE] = "SUBSCRIBE", [TYPE_ACK] = "OR-ACK",
	[TYPE_CHALLENGE] = "CHALLENGE", [TYPE_CNP] = "CNP" }

-- Length without other addresses, of what may follow, and bits of byte 1 with a meaning.
local layout = {
	[TYPE_SUBSCRIBE] = { len = 44, record = 0, flags = 0 },
	[TYPE_ACK] = { len = 36, record = 24, flags = 0x9f },
	[TYPE_CHALLENGE] = { len = 24, record = 0, flags = 0 },
	[TYPE_CNP] = { len = 32, record = 0, flags = 0x0f },
}

-- What two addresses of IPv4 or IPv6 take, by bits 6-5 of byte 1.
local room = { [0] = 0, 8, 32 }

local proto = Proto("onramp", "On-Ramp")
local f = {
	version = ProtoField.uint8("onramp.version", "Version", base.DEC, nil, 0xf0),
	type = ProtoField.uint8("onramp.type", "Type", base.DEC, types, 0x0f),
	nic = ProtoField.uint8("onramp.nic", "Stamp of the NIC", base.DEC, nil, 0x80),
	others = ProtoField.uint8("onramp.others", "Much data without On-Ramp", base.DEC, nil,
		0x10),
	drain = ProtoField.uint8("onramp.drain", "Drain the path", base.DEC, nil, 0x08),
	ack_protocol = ProtoField.uint8("onramp.protocol", "Transport protocol", base.DEC, nil,
		0x07),
	protocol = ProtoField.uint8("onramp.protocol", "Transport protocol", base.DEC, nil,
		0x0f),
	addrs = ProtoField.uint8("onramp.addrs", "Other addresses", base.DEC,
		{ [0] = "none", "IPv4", "IPv6" }, 0x60),
	packets = ProtoField.uint8("onramp.packets", "Packets covered"),
	clock_code = ProtoField.uint8("onramp.clock_code", "Clock error, code"),
	clock_error = ProtoField.uint64("onramp.clock_error", "Clock error (ns)"),
	sport = ProtoField.uint16("onramp.sport", "Source port of the flow"),
	dport = ProtoField.uint16("onramp.dport", "Destination port of the flow"),
	seq = ProtoField.uint32("onramp.seq", "Newest sequence number"),
	rx_ns = ProtoField.uint64("onramp.rx_ns", "Received (ns)"),
	domain = ProtoField.uint8("onramp.domain", "Clock domain"),
	hold = ProtoField.uint24("onramp.hold_ns", "Hold time (ns)", base.DEC),
	count = ProtoField.uint32("onramp.count", "Count"),
	reserved1 = ProtoField.uint8("onramp.reserved1", "Reserved", base.HEX, nil, 0x9f),
	caps = ProtoField.uint16("onramp.caps", "Capabilities", base.HEX),
	cap_relative = ProtoField.bool("onramp.caps.relative",
		"Needs no synchronised clock", 16, nil, 0x0001),
	cap_synced = ProtoField.bool("onramp.caps.synced", "Uses the clock error", 16,
		nil, 0x0002),
	cap_drain = ProtoField.bool("onramp.caps.drain", "Takes the drain bit", 16, nil, 0x0010),
	lifetime = ProtoField.uint16("onramp.lifetime", "Lifetime (s)"),
	reserved6 = ProtoField.uint16("onramp.reserved6", "Reserved", base.HEX),
	nonce = ProtoField.bytes("onramp.nonce", "Nonce"),
	cookie = ProtoField.uint64("onramp.cookie", "Cookie", base.HEX),
	from = ProtoField.uint16("onramp.switch", "Switch"),
	window = ProtoField.uint32("onramp.window", "Window (bytes)"),
	hold_us = ProtoField.uint32("onramp.hold_us", "Holds for (us)"),
	count64 = ProtoField.uint64("onramp.count64", "Count"),
	src4 = ProtoField.ipv4("onramp.sender", "Sender of data"),
	dst4 = ProtoField.ipv4("onramp.receiver", "Receiver of data"),
	src6 = ProtoField.ipv6("onramp.sender6", "Sender of data"),
	dst6 = ProtoField.ipv6("onramp.receiver6", "Receiver of data"),
	tag = ProtoField.uint64("onramp.tag", "Tag", base.HEX),
	error = ProtoField.string("onramp.error", "Refused"),
}
proto.fields = f

local refused = ProtoExpert.new("onramp.refused", "Refused by a receiver",
	expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { refused }

-- The bound of a code, ns; nil if the clock is not synchronised.
local function clock_error(code)
	if code < 8 then
		return UInt64(code)
	end
	if code > 247 then
		return nil
	end
	return UInt64(8 + code % 8):lshift(math.floor(code / 8) - 1)
end

-- In the order of or_check(): nil, or the name of the error.
local function check(buf, len)
	local flags, addrs, l

	if len < 1 then
		return "OR_ERR_SHORT"
	end
	if buf(0, 1):bitfield(0, 4) ~= OR_VERSION then
		return "OR_ERR_VERSION"
	end
	l = layout[buf(0, 1):bitfield(4, 4)]
	if not l then
		return "OR_ERR_TYPE"
	end
	if len < l.len then
		return "OR_ERR_SHORT"
	end
	flags = buf(1, 1):uint()
	addrs = buf(1, 1):bitfield(1, 2)
	if addrs == 3 or bit32.band(flags, bit32.bnot(l.flags + 0x60), 0xff) ~= 0 then
		return "OR_ERR_RESERVED"
	end
	len = len - l.len - room[addrs]
	if len < 0 then
		return "OR_ERR_SHORT"
	end
	if len > 0 and (l.record == 0 or len % l.record ~= 0) then
		return "OR_ERR_LONG"
	end
	if buf(0, 1):bitfield(4, 4) == TYPE_CNP then
		return addrs == 0 and "OR_ERR_VALUE" or nil
	end
	if addrs ~= 0 or len > 0 then
		return "OR_ERR_UNSUPPORTED"
	end
end

local function check_ack(buf)
	local code = buf(2, 1):uint()

	if buf(1, 1):bitfield(5, 3) ~= 6 then
		return "OR_ERR_PROTOCOL"
	end
	if code > 247 and code ~= 255 then
		return "OR_ERR_RESERVED"
	end
	if buf(20, 1):uint() == 0 or buf(4, 2):uint() == 0 or buf(6, 2):uint() == 0 then
		return "OR_ERR_VALUE"
	end
end

local function check_subscribe(buf)
	if buf(6, 2):uint() ~= 0 then
		return "OR_ERR_RESERVED"
	end
	if buf(4, 2):uint() > LIFETIME_MAX or buf(24, 4):uint() == 0 then
		return "OR_ERR_VALUE"
	end
end

local function check_challenge(buf)
	if buf(4, 4):uint() == 0 or buf(8, 8):uint64() == UInt64(0) then
		return "OR_ERR_VALUE"
	end
end

local function check_cnp(buf)
	local hold = buf(12, 4):uint()

	if buf(1, 1):bitfield(4, 4) ~= 6 then
		return "OR_ERR_PROTOCOL"
	end
	if buf(4, 2):uint() == 0 or buf(6, 2):uint() == 0 or buf(8, 4):uint() == 0 or
	   hold == 0 or hold > HOLD_MAX_US or buf(16, 8):uint64() == UInt64(0) then
		return "OR_ERR_VALUE"
	end
end

local function show_ack(buf, tree, info)
	local ns = clock_error(buf(2, 1):uint())

	tree:add(f.nic, buf(1, 1))
	tree:add(f.others, buf(1, 1))
	tree:add(f.addrs, buf(1, 1))
	tree:add(f.drain, buf(1, 1))
	tree:add(f.ack_protocol, buf(1, 1))
	tree:add(f.clock_code, buf(2, 1))
	if ns then
		tree:add(f.clock_error, buf(2, 1), ns)
	end
	tree:add(f.domain, buf(3, 1))
	tree:add(f.sport, buf(4, 2))
	tree:add(f.dport, buf(6, 2))
	tree:add(f.seq, buf(8, 4))
	tree:add(f.rx_ns, buf(12, 8))
	tree:add(f.packets, buf(20, 1))
	tree:add(f.hold, buf(21, 3))
	tree:add(f.count, buf(24, 4))
	info:set(string.format("OR-ACK %d > %d seq %u packets %u",
		buf(4, 2):uint(), buf(6, 2):uint(), buf(8, 4):uint(),
		buf(20, 1):uint()))
end

local function show_subscribe(buf, tree, info)
	local caps

	tree:add(f.reserved1, buf(1, 1))
	tree:add(f.addrs, buf(1, 1))
	caps = tree:add(f.caps, buf(2, 2))
	caps:add(f.cap_relative, buf(2, 2))
	caps:add(f.cap_synced, buf(2, 2))
	caps:add(f.cap_drain, buf(2, 2))
	tree:add(f.lifetime, buf(4, 2))
	tree:add(f.reserved6, buf(6, 2))
	tree:add(f.nonce, buf(8, 16))
	tree:add(f.count, buf(24, 4))
	tree:add(f.cookie, buf(28, 8))
	info:set(string.format("SUBSCRIBE for %u s%s", buf(4, 2):uint(),
		buf(28, 8):uint64() == UInt64(0) and ", no cookie" or ""))
end

local function show_challenge(buf, tree, info)
	tree:add(f.reserved1, buf(1, 1))
	tree:add(f.addrs, buf(1, 1))
	tree:add(f.caps, buf(2, 2))
	tree:add(f.count, buf(4, 4))
	tree:add(f.cookie, buf(8, 8))
	info:set("CHALLENGE")
end

local function show_cnp(buf, tree, info)
	tree:add(f.addrs, buf(1, 1))
	tree:add(f.protocol, buf(1, 1))
	tree:add(f.from, buf(2, 2))
	tree:add(f.sport, buf(4, 2))
	tree:add(f.dport, buf(6, 2))
	tree:add(f.window, buf(8, 4))
	tree:add(f.hold_us, buf(12, 4))
	tree:add(f.count64, buf(16, 8))
	if buf(1, 1):bitfield(1, 2) == 1 then
		tree:add(f.src4, buf(24, 4))
		tree:add(f.dst4, buf(28, 4))
	else
		tree:add(f.src6, buf(24, 16))
		tree:add(f.dst6, buf(40, 16))
	end
	info:set(string.format("CNP %d > %d window %u for %u us", buf(4, 2):uint(),
		buf(6, 2):uint(), buf(8, 4):uint(), buf(12, 4):uint()))
end

local show = { [TYPE_SUBSCRIBE] = show_subscribe, [TYPE_ACK] = show_ack,
	[TYPE_CHALLENGE] = show_challenge, [TYPE_CNP] = show_cnp }
local check_values = { [TYPE_SUBSCRIBE] = check_subscribe, [TYPE_ACK] = check_ack,
	[TYPE_CHALLENGE] = check_challenge, [TYPE_CNP] = check_cnp }

function proto.dissector(buf, pinfo, root)
	local len = buf:len()
	local tree = root:add(proto, buf())
	local err = check(buf, len)
	local kind

	pinfo.cols.protocol = "OR"
	if len > 0 then
		tree:add(f.version, buf(0, 1))
		tree:add(f.type, buf(0, 1))
	end
	if not err then
		kind = buf(0, 1):bitfield(4, 4)
		show[kind](buf, tree, pinfo.cols.info)
		err = check_values[kind](buf)
		tree:add(f.tag, buf(len - 8, 8))
	end
	if err then
		tree:add(f.error, buf(), err)
		tree:add_proto_expert_info(refused, err)
		pinfo.cols.info:prepend("[" .. err .. "] ")
	end
	return len
end

DissectorTable.get("udp.port"):add(OR_PORT, proto)
