// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * fakebus: an I2C adapter (i2c-1) and an SPI controller (spidev0.0) with nothing but
 * a recorder behind them, for tests in the virtual machine.
 *
 * What was sent stands in debugfs, fakebus/i2c and fakebus/spi; writing to a file
 * empties it. Each message is a header of four bytes and the bytes themselves:
 *
 *   u16 little endian  number of bytes that follow
 *   u8                 I2C: address.  SPI: level of the line dc_line of the GPIO
 *                      chip labelled "pi" (0, 1; 2 when there is none)
 *   u8                 bit 0: the message was a read, bit 1: it failed after these bytes
 *
 * Parameters, all writable while it runs (/sys/module/fakebus/parameters):
 *   chip      address that answers on I2C; 0: nobody
 *   fail      how many further messages fail, I2C and SPI; -1: all
 *   error     with which errno they fail
 *   keep      how many bytes of a failing message reach the chip before that
 *   hold_ms   how long every message takes: a bus that is held low
 *   dc_line   SPI: the offset of the data/command line
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/gpio/driver.h>
#include <linux/i2c.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/spi/spi.h>
#include <linux/vmalloc.h>

static ushort chip = 0x3c;
static int fail, error = EREMOTEIO, keep, hold_ms, dc_line = 25;
module_param(chip, ushort, 0644);
module_param(fail, int, 0644);
module_param(error, int, 0644);
module_param(keep, int, 0644);
module_param(hold_ms, int, 0644);
module_param(dc_line, int, 0644);

enum { READ_MESSAGE = 1, FAILED = 2 };

#define RECORD_SIZE (4 << 20)

struct record {
	struct mutex lock;
	u8 *bytes;
	size_t used;
};

static struct record i2c_record, spi_record;

static void record_message(struct record *r, u8 tag, u8 flags, const u8 *bytes, u16 n)
{
	mutex_lock(&r->lock);
	if (r->used + 4 + n <= RECORD_SIZE) {
		u8 *at = r->bytes + r->used;

		at[0] = n & 0xff;
		at[1] = n >> 8;
		at[2] = tag;
		at[3] = flags;
		if (bytes)
			memcpy(at + 4, bytes, n);
		else
			memset(at + 4, 0, n);
		r->used += 4 + n;
	}
	mutex_unlock(&r->lock);
}

/* meets_fault counts down fail and reports whether this message is to fail. */
static bool meets_fault(void)
{
	if (hold_ms > 0)
		msleep(hold_ms);
	if (fail > 0)
		fail--;
	else if (fail == 0)
		return false;
	return true;
}

static int i2c_transfer_fake(struct i2c_adapter *adapter, struct i2c_msg *msgs, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		struct i2c_msg *m = &msgs[i];
		u8 flags = m->flags & I2C_M_RD ? READ_MESSAGE : 0;

		if (meets_fault()) {
			u16 reached = clamp_t(int, keep, 0, m->len);

			record_message(&i2c_record, m->addr, flags | FAILED, m->buf, reached);
			return -error;
		}
		if (!chip || m->addr != chip)
			return -ENXIO;
		if (flags & READ_MESSAGE)
			memset(m->buf, 0, m->len);
		record_message(&i2c_record, m->addr, flags, m->buf, m->len);
	}
	return n;
}

static u32 i2c_functions(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm i2c_algorithm = {
	.master_xfer = i2c_transfer_fake,
	.functionality = i2c_functions,
};

static struct i2c_adapter adapter = {
	.owner = THIS_MODULE,
	.algo = &i2c_algorithm,
	.name = "fakebus",
	.nr = 1,
};

static int is_pi(struct gpio_chip *gc, void *unused)
{
	return gc->label && !strcmp(gc->label, "pi");
}

static u8 dc_level(void)
{
	struct gpio_chip *gc = gpiochip_find(NULL, is_pi);

	if (!gc || !gc->get || dc_line < 0 || dc_line >= gc->ngpio)
		return 2;
	return gc->get(gc, dc_line) ? 1 : 0;
}

static int spi_transfer_fake(struct spi_controller *controller, struct spi_message *message)
{
	struct spi_transfer *t;
	int status = 0;

	list_for_each_entry(t, &message->transfers, transfer_list) {
		if (meets_fault()) {
			u16 reached = clamp_t(int, keep, 0, (int)t->len);

			record_message(&spi_record, dc_level(), FAILED, t->tx_buf, reached);
			status = -error;
			break;
		}
		if (t->rx_buf)
			memset(t->rx_buf, 0, t->len);
		record_message(&spi_record, dc_level(), t->tx_buf ? 0 : READ_MESSAGE, t->tx_buf, t->len);
		message->actual_length += t->len;
	}
	message->status = status;
	spi_finalize_current_message(controller);
	return status;
}

static ssize_t record_read(struct file *file, char __user *to, size_t n, loff_t *at)
{
	struct record *r = file->private_data;

	return simple_read_from_buffer(to, n, at, r->bytes, r->used);
}

static ssize_t record_empty(struct file *file, const char __user *from, size_t n, loff_t *at)
{
	struct record *r = file->private_data;

	mutex_lock(&r->lock);
	r->used = 0;
	mutex_unlock(&r->lock);
	return n;
}

static const struct file_operations record_files = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = record_read,
	.write = record_empty,
	.llseek = default_llseek,
};

static struct dentry *folder;
static struct platform_device *host;
static struct spi_controller *controller;

static int add_spi(void)
{
	struct spi_board_info device = {
		.modalias = "dh2228fv", /* one of the names that the spidev driver takes */
		.max_speed_hz = 20000000,
	};
	int err;

	host = platform_device_register_simple("fakebus", -1, NULL, 0);
	if (IS_ERR(host))
		return PTR_ERR(host);
	controller = spi_alloc_master(&host->dev, 0);
	if (!controller) {
		err = -ENOMEM;
		goto no_controller;
	}
	controller->bus_num = 0;
	controller->num_chipselect = 1;
	controller->mode_bits = SPI_CPOL | SPI_CPHA | SPI_CS_HIGH | SPI_NO_CS;
	controller->transfer_one_message = spi_transfer_fake;
	err = spi_register_controller(controller);
	if (err) {
		spi_controller_put(controller);
		goto no_controller;
	}
	if (!spi_new_device(controller, &device)) {
		spi_unregister_controller(controller);
		err = -ENODEV;
		goto no_controller;
	}
	return 0;

no_controller:
	platform_device_unregister(host);
	return err;
}

static int __init fakebus_init(void)
{
	int err = -ENOMEM;

	mutex_init(&i2c_record.lock);
	mutex_init(&spi_record.lock);
	i2c_record.bytes = vmalloc(RECORD_SIZE);
	spi_record.bytes = vmalloc(RECORD_SIZE);
	if (!i2c_record.bytes || !spi_record.bytes)
		goto no_memory;
	err = i2c_add_numbered_adapter(&adapter);
	if (err)
		goto no_memory;
	err = add_spi();
	if (err)
		goto no_spi;
	folder = debugfs_create_dir("fakebus", NULL);
	debugfs_create_file("i2c", 0600, folder, &i2c_record, &record_files);
	debugfs_create_file("spi", 0600, folder, &spi_record, &record_files);
	return 0;

no_spi:
	i2c_del_adapter(&adapter);
no_memory:
	vfree(i2c_record.bytes);
	vfree(spi_record.bytes);
	return err;
}

static void __exit fakebus_exit(void)
{
	debugfs_remove_recursive(folder);
	spi_unregister_controller(controller);
	platform_device_unregister(host);
	i2c_del_adapter(&adapter);
	vfree(i2c_record.bytes);
	vfree(spi_record.bytes);
}

module_init(fakebus_init);
module_exit(fakebus_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("I2C and SPI buses that record what is sent and fail when told to");
