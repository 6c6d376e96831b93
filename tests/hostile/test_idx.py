"""An IDX file is as large as its header says, and no larger than any official one."""

import gzip
import struct

from source_files import idx, pixels

BEGIN = b"\x00\x00\x08\x03"


def test_a_zip_bomb_is_not_unpacked(rejected):
    bomb = gzip.compress(idx(pixels(12, 28, 28)) + bytes(2**26), 1)
    rejected("idx, gzip", bomb, "more than 9408 bytes where its header says (12, 28, 28)", megabytes=30)


def test_a_header_that_claims_gigabytes_is_rejected(rejected):
    claimed = BEGIN + struct.pack(">III", 2**32 - 1, 28, 28)
    for target, content in (("idx", claimed), ("idx, gzip", gzip.compress(claimed))):
        rejected(target, content, "3367254359280 bytes", megabytes=40)
