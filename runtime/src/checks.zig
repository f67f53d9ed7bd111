//! What Zig calls when one of its own checks fails. std's version would bring its formatting along, half as large again as
//! a small program's whole runtime; the kind of mistake is enough to say.

const root = @import("root");

extern fn kavach_internal_error(message: [*]const u8, length: usize) callconv(.c) noreturn;

/// By its symbol, since the native host's HTTP is compiled apart and fails in the same way, but where it expects it.
fn internalError(message: []const u8) noreturn {
    @branchHint(.cold);
    if (@hasDecl(root, "escape")) root.escape();
    kavach_internal_error(message.ptr, message.len);
}

pub fn call(message: []const u8, _: ?usize) noreturn {
    @branchHint(.cold);
    internalError(message);
}

pub fn sentinelMismatch(_: anytype, _: anytype) noreturn {
    internalError("sentinel mismatch");
}

/// Without its name: the table of all errors' names would be a tenth of a small program.
pub fn unwrapError(_: anyerror) noreturn {
    internalError("attempt to unwrap an error");
}

pub fn outOfBounds(_: usize, _: usize) noreturn {
    internalError("index out of bounds");
}

pub fn startGreaterThanEnd(_: usize, _: usize) noreturn {
    internalError("a slice starts after its end");
}

pub fn inactiveUnionField(_: anytype, _: anytype) noreturn {
    internalError("access of an inactive union field");
}

pub fn sliceCastLenRemainder(_: usize) noreturn {
    internalError("slice length does not divide exactly");
}

pub fn reachedUnreachable() noreturn {
    internalError("reached unreachable code");
}

pub fn unwrapNull() noreturn {
    internalError("attempt to use null value");
}

pub fn castToNull() noreturn {
    internalError("cast causes pointer to be null");
}

pub fn incorrectAlignment() noreturn {
    internalError("incorrect alignment");
}

pub fn invalidErrorCode() noreturn {
    internalError("invalid error code");
}

pub fn unexpectedErrorCode(_: anyerror) noreturn {
    internalError("an error that is not in its set");
}

pub fn integerOutOfBounds() noreturn {
    internalError("integer does not fit in destination type");
}

pub fn integerOverflow() noreturn {
    internalError("integer overflow");
}

pub fn shlOverflow() noreturn {
    internalError("left shift overflowed bits");
}

pub fn shrOverflow() noreturn {
    internalError("right shift overflowed bits");
}

pub fn divideByZero() noreturn {
    internalError("division by zero");
}

pub fn exactDivisionRemainder() noreturn {
    internalError("exact division produced remainder");
}

pub fn integerPartOutOfBounds() noreturn {
    internalError("integer part of floating point value out of bounds");
}

pub fn corruptSwitch() noreturn {
    internalError("switch on corrupt value");
}

pub fn shiftRhsTooBig() noreturn {
    internalError("shift amount is greater than the type size");
}

pub fn invalidEnumValue() noreturn {
    internalError("invalid enum value");
}

pub fn forLenMismatch() noreturn {
    internalError("for loop over objects with non-equal lengths");
}

pub fn copyLenMismatch() noreturn {
    internalError("source and destination have non-equal lengths");
}

pub fn memcpyAlias() noreturn {
    internalError("@memcpy arguments alias");
}

pub fn noreturnReturned() noreturn {
    internalError("'noreturn' function returned");
}

pub fn loadUninstantiableType() noreturn {
    internalError("load of a type without values");
}
