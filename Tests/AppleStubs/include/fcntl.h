#pragma once

#define F_SETFD 2
#define F_SETFL 4
#define FD_CLOEXEC 1
#define O_NONBLOCK 0x00000004

int fcntl(int, int, ...);
